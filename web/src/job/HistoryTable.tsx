// A history as a table, for users who can't see the chart or want the numbers. Rendered when it is opened.

import { useState } from "preact/hooks";
import { TASK_STATES } from "../api/model.ts";
import { formatExactTime } from "../format/dates.ts";
import { formatCount } from "../format/numbers.ts";
import { TaskStateName } from "../ui/tiles/StateBar.tsx";
import type { History } from "./model.ts";

export function HistoryTable({ history }: { history: History }) {
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
                <th scope="col">As of</th>
                {TASK_STATES.map((state) => (
                  <th key={state} scope="col" class="number capital">
                    <TaskStateName state={state} />
                  </th>
                ))}
                <th scope="col" class="number">
                  Total
                </th>
                <th scope="col">Exact</th>
              </tr>
            </thead>
            <tbody>
              {history.value.toReversed().map(({ time, asOf, taskCounts, exact }) => (
                <tr key={time}>
                  <th scope="row">{formatExactTime(Date.parse(time))}</th>
                  <td>{asOf && formatExactTime(Date.parse(asOf))}</td>
                  {taskCounts ? (
                    [...TASK_STATES, "total" as const].map((state) => (
                      <td key={state} class="number">
                        {formatCount(taskCounts[state])}
                      </td>
                    ))
                  ) : (
                    <td class="gone" colSpan={TASK_STATES.length + 1}>
                      not polled
                    </td>
                  )}
                  <td>{taskCounts ? (exact ? "yes" : "not confirmed") : ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
