// Histories of pools: nodes by group of states, targets, interruptions of spot nodes, and changes of settings.

import { ChangeMarks, ChangeSign } from "../charts/ChangeMarks.tsx";
import type { History, HistoryKind } from "../charts/history.ts";
import type { Scale } from "../charts/scales.ts";
import { pathPoint } from "../charts/stack.ts";
import { formatSeconds, parseDuration } from "../format/durations.ts";
import { formatCount, formatRate } from "../format/numbers.ts";
import { GroupSwatch, NodeFillPatterns } from "../nodes/NodeBar.tsx";
import { GROUP_LABELS, type StateGroup } from "../nodes/stateGroups.ts";
import { nodeStatesText } from "../nodes/summaries.ts";
import { countsOf, groupsIn, pointDetails, pointText, targetOf } from "./history.ts";
import type { PoolPoint, SettingChange } from "./model.ts";
import { marksOf } from "./settingChanges.ts";

const WITHOUT_CHANGES: HistoryKind<PoolPoint, StateGroup> = {
  noun: "pool",
  caption: "Nodes by state",
  countsOf,
  statesOf: groupsIn,
  layerPrefix: "node-",
  entryOf: (group) => ({ label: GROUP_LABELS[group], swatch: <GroupSwatch group={group} /> }),
  details: pointDetails,
  textOf: pointText,
  columns: {
    text: [{ key: "nodes", heading: "Nodes", value: ({ nodeCounts }) => nodeStatesText(nodeCounts ?? {}) || "none" }],
    numbers: [
      { key: "target", heading: "Target nodes", value: (point) => countText(targetOf(point)) },
      { key: "slots", heading: "Slots used", value: ({ slots }) => usageText(slots, slots?.used, formatCount) },
      { key: "cores", heading: "Cores busy", value: ({ cores }) => usageText(cores, cores?.busy, formatRate) },
      { key: "tasks", heading: "Tasks", value: ({ tasks }) => countText(tasks) },
      { key: "interruptions", heading: "Interruptions", value: ({ preempted }) => countText(preempted) },
      { key: "waited", heading: "Tasks waited", value: ({ waitedSeconds }) => timeText(waitedSeconds) },
    ],
  },
  signs: (points) => (
    <>
      <span>
        <i class="swatch target-line" aria-hidden="true" /> target
      </span>
      {points.some(({ preempted }) => preempted) && (
        <span>
          <i class="swatch interrupted" aria-hidden="true" /> spot nodes interrupted
        </span>
      )}
    </>
  ),
  overlayHeight: (points) => points.reduce((most, point) => Math.max(most, targetOf(point) ?? 0), 0),
};

/** The history of a pool whose settings changed at these times. */
export function poolHistory(changes: readonly SettingChange[]): HistoryKind<PoolPoint, StateGroup> {
  return {
    ...WITHOUT_CHANGES,
    signs: (points) => (
      <>
        {WITHOUT_CHANGES.signs?.(points)}
        {changes.length > 0 && <ChangeSign />}
      </>
    ),
    overlay: (history, created, x, y) => (
      <>
        <TargetOverlay history={history} created={created} x={x} y={y} />
        <ChangeMarks
          marks={marksOf(changes)}
          from={Date.parse(history.value[0]?.time ?? "")}
          to={Date.parse(history.to)}
          x={x}
          top={10}
          bottom={y(0)}
        />
      </>
    ),
  };
}

/** The time over all causes, such as "3 h". */
function timeText(waited: Record<string, number> | null): string {
  return waited ? formatSeconds(Object.values(waited).reduce((sum, seconds) => sum + seconds, 0)) : "–";
}

function countText(count: number | null): string {
  return count === null ? "–" : formatCount(count);
}

function usageText(whole: { total: number } | null, part: number | undefined, format: (part: number) => string) {
  return whole && part !== undefined ? `${format(part)} of ${formatCount(whole.total)}` : "–";
}

interface OverlayProps {
  history: History<PoolPoint>;
  created: number;
  x: Scale;
  y: Scale;
}

/** The target as a line, with gaps if it is unknown or the pool didn't exist, and marks at steps with interruptions. */
function TargetOverlay({ history, created, x, y }: OverlayProps) {
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
