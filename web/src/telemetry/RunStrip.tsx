// A strip below the charts of a node, on the same time axis: its states, its tasks' runs, and other events.

import { useContext } from "preact/hooks";
import { FillPatterns, TimeLabels } from "../charts/Axes.tsx";
import { type Scale, timeTicks } from "../charts/scales.ts";
import { formatExactTime } from "../format/dates.ts";
import { plural } from "../format/numbers.ts";
import { visible } from "../format/text.ts";
import type { StatePeriod } from "../nodes/model.ts";
import { NodeFillPatterns } from "../nodes/NodeBar.tsx";
import { stateGroupOf, stateLabel } from "../nodes/stateGroups.ts";
import { Navigation } from "../routing/Link.tsx";
import { addressOfJob } from "../routing/routes.ts";
import { serverClock } from "../time/clock.ts";
import { useTooltipSetter } from "../ui/text/Tooltip.tsx";
import { CursorLine, cursorHandlers, LEFT, RIGHT_MARGIN } from "./Chart.tsx";
import type { ChartLayout } from "./Charts.tsx";
import { type TimeGrid, timeScale } from "./series/axis.ts";
import { type NodeActivity, type Run, runText } from "./series/runs.ts";

const STATES = 8;
const TASKS_AT = STATES + 8;
const LANE = 9;
const MARK = 12;
const AXIS = 22;
const marksAt = ({ lanes }: NodeActivity) => TASKS_AT + lanes * LANE;

interface StripProps extends ChartLayout {
  account: string;
  /** Latest first. */
  states: StatePeriod[];
  activity: NodeActivity;
}

/** Horizontal positions of times and spans, limited to the chart. */
interface Scales {
  time: TimeGrid;
  x: Scale;
  spanOf: (from: number, to: number) => { x: number; width: number };
}

export function RunStrip({ account, states, activity, time, width, cursor }: StripProps) {
  const navigate = useContext(Navigation);
  const setTooltip = useTooltipSetter();
  const right = Math.max(LEFT + 1, width - RIGHT_MARGIN);
  const scales = scalesOf(time, right);
  const bottom = marksAt(activity) + (activity.marks.length ? MARK : 0);
  const runs = activity.runs.filter(({ from, to }) => to > time.from && from < time.to);
  const { onPointerMove, onPointerLeave } = cursorHandlers(time, cursor, LEFT, right);
  return (
    <figure class="measure run-strip" data-testid="runs">
      <svg
        width={width}
        height={bottom + AXIS}
        role="img"
        aria-label={descriptionOf(activity, runs.length)}
        onPointerMove={onPointerMove}
        onPointerOver={({ target }) => setTooltip((target as Element).getAttribute("data-words"), target as Element)}
        onPointerLeave={() => {
          onPointerLeave();
          setTooltip(null);
        }}
        onClick={({ target }) => {
          const run = runs[Number((target as Element).getAttribute("data-run-at") ?? -1)];
          if (run) navigate(addressOfJob(account, run.job, run.task));
        }}
      >
        <defs>
          <NodeFillPatterns />
        </defs>
        <FillPatterns name="timeline" />
        <Names lanes={activity.lanes} />
        <States states={states} scales={scales} />
        <Runs runs={runs} scales={scales} />
        <Marks activity={activity} scales={scales} />
        <g transform={`translate(0 ${bottom})`} aria-hidden="true">
          <TimeLabels ticks={timeTicks(time.from, time.to, width / 84)} x={scales.x} left={LEFT} right={width} />
        </g>
        {cursor.at !== null && <CursorLine at={scales.x(cursor.at + time.step / 2)} bottom={bottom} />}
      </svg>
      <StripLegend activity={activity} />
    </figure>
  );
}

function scalesOf(time: TimeGrid, right: number): Scales {
  const scale = timeScale(time, LEFT, right);
  const x = (at: number) => scale(Math.max(time.from, Math.min(time.to, at)));
  return { time, x, spanOf: (from, to) => ({ x: x(from), width: Math.max(1.5, x(to) - x(from) - 0.5) }) };
}

function Names({ lanes }: { lanes: number }) {
  return (
    <g class="axis">
      <text x={LEFT - 6} y={STATES / 2 + 1} dy="0.32em" text-anchor="end">
        State
      </text>
      <text x={LEFT - 6} y={TASKS_AT + (lanes * LANE) / 2} dy="0.32em" text-anchor="end">
        Tasks
      </text>
    </g>
  );
}

function States({ states, scales: { time, spanOf } }: { states: StatePeriod[]; scales: Scales }) {
  return states.map(({ state, since, until }) => {
    const from = since ? Date.parse(since) : -Infinity;
    const to = until ? Date.parse(until) : Infinity;
    if (!state || to <= time.from || from >= time.to) return null;
    const label = `${stateLabel(state)}${since ? ` since ${formatExactTime(from)}` : ""}`;
    const kind = `node-${stateGroupOf(state)}`;
    return <rect key={from} data-layer={kind} data-words={label} {...spanOf(from, to)} y={1} height={STATES} rx={2} />;
  });
}

function Runs({ runs, scales: { spanOf } }: { runs: Run[]; scales: Scales }) {
  const now = serverClock.now();
  return runs.map((run, index) => (
    <rect
      key={`${run.job} ${run.task} ${run.from}`}
      class="run"
      data-run={run.to === Infinity ? "running" : run.failed ? "failure" : "success"}
      data-run-at={index}
      data-words={runText(run, now)}
      {...spanOf(run.from, run.to)}
      y={TASKS_AT + run.lane * LANE}
      height={LANE - 2}
      rx={2}
    />
  ));
}

function Marks({ activity, scales: { time, x } }: { activity: NodeActivity; scales: Scales }) {
  const top = marksAt(activity) + 1;
  return activity.marks
    .filter(({ at }) => at >= time.from && at < time.to)
    .map(({ at, label }, index) => (
      <path key={index} class="mark-of-event" data-testid="mark" data-words={label} d={`M${x(at)},${top}l5,9h-10z`} />
    ));
}

const RUNS = { succeeded: "task ended", failed: "task failed", running: "running" } as const;

function StripLegend({ activity }: { activity: NodeActivity }) {
  return (
    <p class="key">
      {activity.runs.length
        ? Object.entries(RUNS).map(([state, label]) => (
            <span key={state}>
              <i class="swatch" data-state={state} aria-hidden="true" /> {label}
            </span>
          ))
        : "Batch logged no tasks on this node in this range."}
      {activity.marks.length > 0 && (
        <span>
          <i class="swatch marked" aria-hidden="true" /> failure, or another event
        </span>
      )}
      {activity.hiddenRuns > 0 && <span>{plural(activity.hiddenRuns, "overlapping run")} not shown</span>}
    </p>
  );
}

function descriptionOf({ marks }: NodeActivity, runs: number): string {
  const marked = marks.length ? `, ${plural(marks.length, "marked event")}` : "";
  return visible(`Node states, ${plural(runs, "task run")}${marked}`);
}
