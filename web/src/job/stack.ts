// What a history looks like: stretches that are known, gaps between them, and states stacked upon each other.

import { TASK_STATES, type TaskCounts, type TaskState } from "../model";
import type { History, HistoryPoint } from "./model";
import { parseDuration, type Scale } from "./scales";

/** A known point: counts, and whether they were exact. */
export interface Known {
  at: number;
  counts: TaskCounts;
  exact: boolean;
}

/** Steps in a row that are all known, or that nobody polled in. */
export interface Stretch {
  from: number;
  to: number;
  /** Empty in a gap. */
  points: Known[];
}

export interface Layer {
  state: TaskState;
  path: string;
}

/** Each point stands for the step that it ends; a step without counts is a gap and never a zero. */
export function stretchesOf(history: History): Stretch[] {
  const step = parseDuration(history.step);
  const begin = Date.parse(history.from);
  const stretches: Stretch[] = [];
  for (const point of history.value) {
    const at = Date.parse(point.time);
    const known = knownOf(point, at);
    const last = stretches.at(-1);
    if (last && last.points.length > 0 === Boolean(known)) {
      last.to = at;
      if (known) last.points.push(known);
    } else {
      stretches.push({ from: last?.to ?? Math.max(begin, at - step), to: at, points: known ? [known] : [] });
    }
  }
  return stretches;
}

function knownOf({ taskCounts, exact }: HistoryPoint, at: number): Known | null {
  return taskCounts && { at, counts: taskCounts, exact: exact === true };
}

/** The most tasks at any point, in the states that are shown. */
export function heightOf(stretches: Stretch[], states: readonly TaskState[]): number {
  const heights = stretches.flatMap(({ points }) =>
    points.map(({ counts }) => states.reduce((sum, state) => sum + counts[state], 0)),
  );
  return heights.reduce((most, height) => Math.max(most, height), 0);
}

/** A stretch's states as areas upon each other, the first at the bottom; its first step is drawn flat. */
export function layersOf(stretch: Stretch, states: readonly TaskState[], x: Scale, y: Scale): Layer[] {
  const [first] = stretch.points;
  if (!first) return [];
  const points = [{ ...first, at: stretch.from }, ...stretch.points];
  let floor = points.map(() => 0);
  return TASK_STATES.filter((state) => states.includes(state)).map((state) => {
    const ceiling = points.map(({ counts }, index) => (floor[index] ?? 0) + counts[state]);
    const upper = points.map(({ at }, index) => place(x(at), y(ceiling[index] ?? 0)));
    const lower = points.map(({ at }, index) => place(x(at), y(floor[index] ?? 0))).reverse();
    floor = ceiling;
    return { state, path: `M${upper.join("L")}L${lower.join("L")}Z` };
  });
}

function place(x: number, y: number): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

/** The spans of time, within known stretches, whose counts weren't confirmed as exact. */
export function doubtsOf(stretches: Stretch[]): { from: number; to: number }[] {
  const doubts: { from: number; to: number }[] = [];
  for (const { from, points } of stretches) {
    let before = from;
    for (const { at, exact } of points) {
      const last = doubts.at(-1);
      if (!exact && last?.to === before && before !== from) last.to = at;
      else if (!exact) doubts.push({ from: before, to: at });
      before = at;
    }
  }
  return doubts;
}
