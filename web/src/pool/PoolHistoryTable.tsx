// A pool's history as a table, for users who can't see the chart or want the numbers. Rendered when it is opened.

import { useState } from "preact/hooks";
import { formatExactTime } from "../format/dates.ts";
import { formatCount, formatRate } from "../format/numbers.ts";
import { nodeStatesText } from "../nodes/summaries.ts";
import { targetOf } from "./history.ts";
import type { PoolHistory, PoolPoint } from "./model.ts";

const NUMBERS = ["Target nodes", "Slots used", "Cores busy", "Tasks", "Interruptions"];

export function PoolHistoryTable({ history }: { history: PoolHistory }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show as table</summary>
      {open && (
        <div class="scroll" tabIndex={0} role="region" aria-label="History as a table">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">Interval end</th>
                <th scope="col">Nodes</th>
                {NUMBERS.map((name) => (
                  <th key={name} scope="col" class="number">
                    {name}
                  </th>
                ))}
                <th scope="col">Exact</th>
              </tr>
            </thead>
            <tbody>
              {history.value.toReversed().map((point) => (
                <Row key={point.time} point={point} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

function Row({ point }: { point: PoolPoint }) {
  const { time, nodeCounts, slots, cores, tasks, preempted, exact } = point;
  const target = targetOf(point);
  const numbers = [
    target === null ? "–" : formatCount(target),
    slots ? `${formatCount(slots.used)} of ${formatCount(slots.total)}` : "–",
    cores ? `${formatRate(cores.busy)} of ${formatCount(cores.total)}` : "–",
    tasks === null ? "–" : formatCount(tasks),
    preempted === null ? "–" : formatCount(preempted),
  ];
  return (
    <tr>
      <th scope="row">{formatExactTime(Date.parse(time))}</th>
      {nodeCounts ? (
        <>
          <td>{nodeStatesText(nodeCounts) || "none"}</td>
          {numbers.map((number, index) => (
            <td key={NUMBERS[index]} class="number">
              {number}
            </td>
          ))}
        </>
      ) : (
        <td class="gone" colSpan={NUMBERS.length + 1}>
          not polled
        </td>
      )}
      <td>{nodeCounts ? (exact ? "yes" : "not confirmed") : ""}</td>
    </tr>
  );
}
