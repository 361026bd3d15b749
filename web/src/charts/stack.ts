// What a history looks like: stretches that are known, gaps between them, and states stacked upon each other.

import { parseDuration } from "../format/durations.ts";
import type { Scale } from "./scales.ts";

const LEAST_STEPS = 5;

/** How many there were in each state at the end of a step; null where nobody asked Batch in that step. */
export interface Point<State extends string> {
  time: string;
  exact: boolean | null;
  counts: Record<State, number> | null;
}

/** Numbers by state over time; `step` is an ISO 8601 duration, as "PT1M". */
export interface Series<State extends string> {
  from: string;
  to: string;
  step: string;
  value: Point<State>[];
}

/** A known point: counts, and whether they were exact. */
export interface Known<State extends string> {
  at: number;
  counts: Record<State, number>;
  exact: boolean;
}

/** Steps in a row that are all known, or that nobody polled in. */
export interface Stretch<State extends string> {
  from: number;
  to: number;
  /** Empty in a gap. */
  points: Known<State>[];
}

export interface Layer<State extends string> {
  state: State;
  path: string;
}

/** Each point stands for the step that it ends; a step without counts is a gap and never a zero. */
export function stretchesOf<State extends string>(history: Series<State>): Stretch<State>[] {
  const step = parseDuration(history.step);
  const begin = Date.parse(history.from);
  const stretches: Stretch<State>[] = [];
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

function knownOf<State extends string>({ counts, exact }: Point<State>, at: number): Known<State> | null {
  return counts && { at, counts, exact: exact === true };
}

/** The most at any point, in the states that are shown. */
export function heightOf<State extends string>(stretches: Stretch<State>[], states: readonly State[]): number {
  const heights = stretches.flatMap(({ points }) =>
    points.map(({ counts }) => states.reduce((sum, state) => sum + counts[state], 0)),
  );
  return heights.reduce((most, height) => Math.max(most, height), 0);
}

/** Where a story begins: when its subject was created, or before if something is known of one of the same id. */
export function beginningOf(stretches: Stretch<string>[], created: number): number {
  const known = stretches.find(({ points }) => points.length);
  return known && (known.points[0]?.at ?? 0) <= created ? known.from : created;
}

/** Leaves out what lies before a moment, be it within a step. */
export function since<State extends string>(stretches: Stretch<State>[], moment: number): Stretch<State>[] {
  return stretches
    .filter(({ to }) => to > moment)
    .map((stretch) => ({ ...stretch, from: Math.max(stretch.from, moment) }));
}

/** A stretch's states as areas upon each other, the first at the bottom; its first step is drawn flat. */
export function layersOf<State extends string>(
  stretch: Stretch<State>,
  states: readonly State[],
  x: Scale,
  y: Scale,
): Layer<State>[] {
  const [first] = stretch.points;
  if (!first) return [];
  const points = [{ ...first, at: Math.min(stretch.from, first.at) }, ...stretch.points];
  let floor = points.map(() => 0);
  return states.map((state) => {
    const ceiling = points.map(({ counts }, index) => (floor[index] ?? 0) + counts[state]);
    const upper = points.map(({ at }, index) => place(x(at), y(ceiling[index] ?? 0)));
    const lower = points.map(({ at }, index) => place(x(at), y(floor[index] ?? 0))).reverse();
    floor = ceiling;
    return { state, path: `M${upper.join("L")}L${lower.join("L")}Z` };
  });
}

/** A point of a path. */
export function place(x: number, y: number): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

/** What the chart shows: the range, but for the part of it before the beginning, and some steps at least. */
export function domainOf(history: Series<string>, beginning: number): [number, number] {
  const step = parseDuration(history.step);
  const from = Date.parse(history.from);
  const to = Math.max(Date.parse(history.to), from + 1);
  return [Math.max(from, Math.min(beginning - step, to - LEAST_STEPS * step)), to];
}

/** The spans of time, within known stretches, whose counts weren't confirmed as exact. */
export function doubtsOf(stretches: Stretch<string>[]): { from: number; to: number }[] {
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
