// Where the runs of a node stand in a timeline: those at the same time in lanes below each other.

import { short } from "./scales";
import type { Run, Timeline, TimelineNode } from "./model";

export interface Placed {
  run: Run;
  from: number;
  to: number;
  lane: number;
}

export interface Row {
  node: TimelineNode;
  runs: Placed[];
  lanes: number;
  /** From the chart's top, in pixels. */
  top: number;
  height: number;
}

const LANE = 12;
const GAP = 10;
const LEAST = 26;

/** Rows below each other; a run that goes on ends at `now`. */
export function rowsOf(timeline: Timeline, now: number): Row[] {
  let top = 0;
  return timeline.nodes.map((node) => {
    const runs = placed(node.runs ?? [], now);
    const lanes = runs.reduce((most, { lane }) => Math.max(most, lane + 1), 1);
    const height = Math.max(LEAST, lanes * LANE) + GAP;
    const row = { node, runs, lanes, top, height };
    top += height;
    return row;
  });
}

/** Each run in the first lane that is free when it starts. */
function placed(runs: Run[], now: number): Placed[] {
  const free: number[] = [];
  const spans = runs.map((run) => ({ run, from: Date.parse(run.start), to: run.end ? Date.parse(run.end) : now }));
  return spans
    .sort((one, other) => one.from - other.from)
    .map((each) => {
      const found = free.findIndex((until) => until <= each.from);
      const lane = found < 0 ? free.length : found;
      free[lane] = each.to;
      return { ...each, lane };
    });
}

/** How high a lane is and where in its row it stands, in pixels. */
export function laneBox({ top, height, lanes }: Row, lane: number): { y: number; height: number } {
  const each = Math.min(18, (height - GAP) / lanes);
  const offset = (height - each * lanes) / 2;
  return { y: top + offset + lane * each, height: Math.max(2, each - 2) };
}

/** The part of the range in which anything ran, with a little room; all of it where nothing did. */
export function extentOf(timeline: Timeline, rows: Row[], now: number): [number, number] {
  const from = Date.parse(timeline.from);
  const to = Math.max(Date.parse(timeline.to), from + 1);
  const spans = rows.flatMap(({ node, runs }) => [
    ...runs,
    ...(node.buckets ?? [])
      .filter(({ tasks, busySlotSeconds }) => tasks || busySlotSeconds)
      .map(({ start, end }) => ({ from: Date.parse(start), to: Date.parse(end) })),
  ]);
  if (!spans.length) return [from, to];
  const first = Math.max(from, spans.reduce((least, span) => Math.min(least, span.from), Infinity));
  const last = Math.min(Math.max(to, now), spans.reduce((most, span) => Math.max(most, span.to), -Infinity));
  const room = Math.max(1000, (last - first) * 0.01);
  return [first - room, last + room];
}

/** "4.2K slot-hours", "12 slot-minutes": how much of a node was in use. */
export function busy(slotSeconds: number): string {
  const hours = slotSeconds / 3600;
  return hours >= 1 ? `${short(hours)} slot-hours` : `${short(slotSeconds / 60)} slot-minutes`;
}
