// The rows of a timeline, one for each node: its runs, with simultaneous ones in lanes below each other, or its steps.

import { formatExactTime } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";
import { formatCompact, plural } from "../../format/numbers.ts";
import type { Bucket, Run, Timeline, TimelineNode } from "./model.ts";

/** A run, or a step with its number of runs. */
export interface Mark {
  from: number;
  to: number;
  lane: number;
  kind: "success" | "failure" | "running" | "ended" | "busy";
  label: string;
  /** The task of a run; null for a step. */
  task: string | null;
  /** For a step: average slots in use, and the share of its tasks that failed. */
  load: { slots: number; failed: number } | null;
}

export interface Row {
  node: TimelineNode;
  marks: Mark[];
  lanes: number;
  /** From the chart's top, in pixels. */
  top: number;
  height: number;
}

const LANE = 12;
const GAP = 10;
const MIN_HEIGHT = 26;

/** Rows from top to bottom; a running task's run ends at `now`. */
export function rowsOf(timeline: Timeline, now: number): Row[] {
  let top = 0;
  return timeline.nodes.map((node) => {
    const marks = timeline.aggregated ? (node.buckets ?? []).map(stepOf) : withLanes(node.runs ?? [], now);
    const lanes = marks.reduce((most, { lane }) => Math.max(most, lane + 1), 1);
    const height = Math.max(MIN_HEIGHT, lanes * LANE) + GAP;
    const row = { node, marks, lanes, top, height };
    top += height;
    return row;
  });
}

/** Each run in the first lane that is free when it starts. */
function withLanes(runs: Run[], now: number): Mark[] {
  const free: number[] = [];
  const marks = runs.map((run) => markOf(run, now)).sort((one, other) => one.from - other.from);
  for (const mark of marks) {
    const found = free.findIndex((until) => until <= mark.from);
    mark.lane = found < 0 ? free.length : found;
    free[mark.lane] = mark.to;
  }
  return marks;
}

function markOf({ task, start, end, result }: Run, now: number): Mark {
  const from = Date.parse(start);
  const to = end ? Date.parse(end) : Math.max(now, from);
  const kind = result ?? (end ? "ended" : "running");
  const outcome = kind === "success" ? "succeeded" : kind === "failure" ? "failed" : kind;
  const when = end ? `${formatExactTime(from)} to ${formatExactTime(to)}` : `since ${formatExactTime(from)}`;
  const label = `${task} · ${outcome} · ${when} · ${formatSeconds((to - from) / 1000)}`;
  return { from, to, lane: 0, kind, label, task, load: null };
}

function stepOf({ start, end, tasks, busySlotSeconds, failed }: Bucket): Mark {
  const [from, to] = [Date.parse(start), Date.parse(end)];
  const counts = `${plural(tasks, "task")}, ${failed} failed`;
  const label = `${formatExactTime(from)} to ${formatExactTime(to)} · ${counts} · ${slotTimeText(busySlotSeconds)}`;
  const load = { slots: busySlotSeconds / Math.max(1, (to - from) / 1000), failed: tasks ? failed / tasks : 0 };
  return { from, to, lane: 0, kind: "busy", label, task: null, load };
}

/** The position and height of a lane in the chart, in pixels. */
export function laneBox({ top, height, lanes }: Row, lane: number): { y: number; height: number } {
  const each = Math.min(18, (height - GAP) / lanes);
  const offset = (height - each * lanes) / 2;
  return { y: top + offset + lane * each, height: Math.max(2, each - 2) };
}

/** The part of the range with runs, and some margin; the whole range if there are none. */
export function extentOf(timeline: Timeline, rows: Row[]): [number, number] {
  const begin = Date.parse(timeline.from);
  const marks = rows.flatMap(({ marks: each }) => each).filter(({ load }) => load?.slots !== 0);
  if (!marks.length) return [begin, Math.max(Date.parse(timeline.to), begin + 1)];
  const first = Math.max(begin, marks.reduce((least, { from }) => Math.min(least, from), Infinity));
  const last = marks.reduce((most, { to }) => Math.max(most, to), first);
  const margin = Math.max(1000, (last - first) * 0.01);
  return [first - margin, last + margin];
}

/** The highest average of slots in use in any step. */
export function maxSlots(rows: Row[]): number {
  const loads = rows.flatMap(({ marks }) => marks.map(({ load }) => load?.slots ?? 0));
  return loads.reduce((most, each) => Math.max(most, each), 0) || 1;
}

/** The mark to which a key moves, as [row, mark]: along the row, or to the next one in another row; null if none. */
export function nextMark(rows: Row[], here: [number, number] | null, key: string): [number, number] | null {
  const [row, mark] = here ?? [0, -1];
  const length = rows[row]?.marks.length ?? 0;
  if (key === "ArrowRight" && mark + 1 < length) return [row, mark + 1];
  if (key === "ArrowLeft" && mark > 0) return [row, mark - 1];
  const other = key === "ArrowDown" ? (here ? row + 1 : 0) : key === "ArrowUp" ? row - 1 : -1;
  const marks = rows[other]?.marks ?? [];
  const from = rows[row]?.marks[mark]?.from ?? -Infinity;
  if (!marks.length) return null;
  const after = marks.findIndex((each) => each.from >= from);
  return [other, after < 0 ? marks.length - 1 : after];
}

/** "4.2K slot-hours", "12 slot-minutes". */
export function slotTimeText(slotSeconds: number): string {
  const hours = slotSeconds / 3600;
  return hours >= 1 ? `${formatCompact(hours)} slot-hours` : `${formatCompact(slotSeconds / 60)} slot-minutes`;
}
