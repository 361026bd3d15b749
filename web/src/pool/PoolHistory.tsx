// The history of a pool: nodes by group of states, target nodes, and interruptions of spot nodes.

import { useMemo } from "preact/hooks";
import { pathOfPool } from "../api/paths.ts";
import { HistoryPanel } from "../charts/HistoryPanel.tsx";
import { HistorySection } from "../charts/HistorySection.tsx";
import type { Columns } from "../charts/HistoryTable.tsx";
import type { Scale } from "../charts/scales.ts";
import { pathPoint } from "../charts/stack.ts";
import { parseDuration } from "../format/durations.ts";
import { formatCount, formatRate } from "../format/numbers.ts";
import { GroupSwatch, NodeFillPatterns } from "../nodes/NodeBar.tsx";
import { GROUP_LABELS } from "../nodes/stateGroups.ts";
import { nodeStatesText } from "../nodes/summaries.ts";
import { addressOfPoolView, type PoolView } from "../routing/poolView.ts";
import type { Range } from "../time/ranges.ts";
import { groupsIn, pointDetails, pointText, seriesOf, targetOf } from "./history.ts";
import type { PoolHistory as History, PoolPoint } from "./model.ts";

interface PoolHistoryProps {
  view: PoolView;
  /** Null until the pool's age is known, which decides the default. */
  range: Range | null;
  created: number;
  /** Whether the pool is gone: then the section shows its stored history, if there is any. */
  gone?: boolean;
}

export function PoolHistory({ view, range, created, gone = false }: PoolHistoryProps) {
  return (
    <HistorySection<History>
      path={pathOfPool(view, "history")}
      id={view.pool}
      range={range}
      addressOf={(each) => addressOfPoolView({ ...view, range: each })}
      gone={gone}
    >
      {(history) => <Contents history={history} created={created} />}
    </HistorySection>
  );
}

function Contents({ history, created }: { history: History; created: number }) {
  const series = useMemo(() => seriesOf(history), [history]);
  return (
    <HistoryPanel
      noun="pool"
      created={created}
      series={series}
      points={history.value}
      states={groupsIn(series)}
      layerPrefix="node-"
      entryOf={(group) => ({ label: GROUP_LABELS[group], swatch: <GroupSwatch group={group} /> })}
      details={pointDetails}
      textOf={pointText}
      caption="Nodes by state"
      signs={
        <>
          <span>
            <i class="swatch target-line" aria-hidden="true" /> target
          </span>
          {history.value.some(({ preempted }) => preempted) && (
            <span>
              <i class="swatch interrupted" aria-hidden="true" /> spot nodes interrupted
            </span>
          )}
        </>
      }
      overlay={(x, y) => <TargetOverlay history={history} created={created} x={x} y={y} />}
      overlayHeight={Math.max(0, ...history.value.map((each) => targetOf(each) ?? 0))}
      columns={COLUMNS}
    />
  );
}

const COLUMNS: Columns<PoolPoint> = {
  text: [{ key: "nodes", heading: "Nodes", value: ({ nodeCounts }) => nodeStatesText(nodeCounts ?? {}) || "none" }],
  numbers: [
    { key: "target", heading: "Target nodes", value: (point) => countText(targetOf(point)) },
    { key: "slots", heading: "Slots used", value: ({ slots }) => shareText(slots, slots?.used, formatCount) },
    { key: "cores", heading: "Cores busy", value: ({ cores }) => shareText(cores, cores?.busy, formatRate) },
    { key: "tasks", heading: "Tasks", value: ({ tasks }) => countText(tasks) },
    { key: "interruptions", heading: "Interruptions", value: ({ preempted }) => countText(preempted) },
  ],
};

function countText(count: number | null): string {
  return count === null ? "–" : formatCount(count);
}

function shareText(whole: { total: number } | null, part: number | undefined, format: (part: number) => string) {
  return whole && part !== undefined ? `${format(part)} of ${formatCount(whole.total)}` : "–";
}

/** The target as a line, with gaps if it is unknown or the pool didn't exist, and marks at steps with interruptions. */
function TargetOverlay({ history, created, x, y }: { history: History; created: number; x: Scale; y: Scale }) {
  const step = parseDuration(history.step);
  let open = false;
  const line = history.value
    .map((point) => {
      const at = Date.parse(point.time);
      const target = at < created ? null : targetOf(point);
      const begin = open || target === null ? "" : `M${pathPoint(x(Math.max(at - step, created)), y(target))}`;
      open = target !== null;
      return target === null ? "" : `${begin}L${pathPoint(x(at), y(target))}`;
    })
    .join("");
  return (
    <g>
      <defs>
        <NodeFillPatterns />
      </defs>
      <path class="target-path" d={line} data-testid="target" />
      {history.value
        .filter(({ preempted }) => preempted)
        .map(({ time }) => (
          <path key={time} class="interruption" d={`M${x(Date.parse(time)) - 6},${y(0)}l6,-11l6,11z`} />
        ))}
    </g>
  );
}
