// The geometry of a history chart: segments with counts, gaps between them, and states as stacked areas.

import { parseDuration } from "../format/durations.ts";
import type { Scale } from "./scales.ts";

const MIN_STEPS = 5;

/** Numbers by state at the end of a step; null if no poll ran in that step. */
export interface Point<State extends string> {
  time: string;
  exact: boolean | null;
  counts: Record<State, number> | null;
}

/** Numbers by state over time; `step` is an ISO 8601 duration, such as "PT1M". */
export interface Series<State extends string> {
  from: string;
  to: string;
  step: string;
  value: Point<State>[];
}

/** A point with counts. */
interface KnownPoint<State extends string> {
  at: number;
  counts: Record<State, number>;
  exact: boolean;
}

/** Consecutive steps that all have counts, or a gap: consecutive steps without. */
export interface Segment<State extends string> {
  from: number;
  to: number;
  /** Empty in a gap. */
  points: KnownPoint<State>[];
}

interface Layer<State extends string> {
  state: State;
  path: string;
}

/** Each point stands for the step that it ends. Steps without counts are gaps, never zeros. */
export function segmentsOf<State extends string>(history: Series<State>): Segment<State>[] {
  const step = parseDuration(history.step);
  const begin = Date.parse(history.from);
  const segments: Segment<State>[] = [];
  for (const point of history.value) {
    const at = Date.parse(point.time);
    const known = knownPointOf(point, at);
    const last = segments.at(-1);
    if (last && last.points.length > 0 === Boolean(known)) {
      last.to = at;
      if (known) last.points.push(known);
    } else {
      segments.push({ from: last?.to ?? Math.max(begin, at - step), to: at, points: known ? [known] : [] });
    }
  }
  return segments;
}

function knownPointOf<State extends string>({ counts, exact }: Point<State>, at: number): KnownPoint<State> | null {
  return counts && { at, counts, exact: exact === true };
}

/** The largest sum over the shown states at any point. */
export function maxTotal<State extends string>(segments: Segment<State>[], states: readonly State[]): number {
  const heights = segments.flatMap(({ points }) =>
    points.map(({ counts }) => states.reduce((sum, state) => sum + counts[state], 0)),
  );
  return heights.reduce((most, height) => Math.max(most, height), 0);
}

/** The start of a history: the creation of its subject, or earlier points of a subject with the same id. */
export function startOf(segments: Segment<string>[], created: number): number {
  const known = segments.find(({ points }) => points.length);
  return known && (known.points[0]?.at ?? 0) <= created ? known.from : created;
}

/** Cuts off everything before a time, also within a step. */
export function clippedFrom<State extends string>(segments: Segment<State>[], moment: number): Segment<State>[] {
  return segments
    .filter(({ to }) => to > moment)
    .map((segment) => ({ ...segment, from: Math.max(segment.from, moment) }));
}

/** A segment whose points hold from the one before on, so that areas have steps. */
export function stepped<State extends string>(segment: Segment<State>): Segment<State> {
  const { from, points } = segment;
  return { ...segment, points: points.flatMap((point, index) => [{ ...point, at: points[index - 1]?.at ?? from }, point]) };
}

/** The states of a segment as stacked areas, the first at the bottom; the first step is flat. */
export function layersOf<State extends string>(
  segment: Segment<State>,
  states: readonly State[],
  x: Scale,
  y: Scale,
): Layer<State>[] {
  const [first] = segment.points;
  if (!first) return [];
  const points = [{ ...first, at: Math.min(segment.from, first.at) }, ...segment.points];
  let floor = points.map(() => 0);
  return states.map((state) => {
    const ceiling = points.map(({ counts }, index) => (floor[index] ?? 0) + counts[state]);
    const upper = points.map(({ at }, index) => pathPoint(x(at), y(ceiling[index] ?? 0)));
    const lower = points.map(({ at }, index) => pathPoint(x(at), y(floor[index] ?? 0))).reverse();
    floor = ceiling;
    return { state, path: `M${upper.join("L")}L${lower.join("L")}Z` };
  });
}

/** A point in the data of an SVG path. */
export function pathPoint(x: number, y: number): string {
  return `${x.toFixed(1)},${y.toFixed(1)}`;
}

/** The time that the chart shows: the range without the part before the start, but with a minimum of steps. */
export function domainOf(history: Series<string>, start: number): [number, number] {
  const step = parseDuration(history.step);
  const from = Date.parse(history.from);
  const to = Math.max(Date.parse(history.to), from + 1);
  return [Math.max(from, Math.min(start - step, to - MIN_STEPS * step)), to];
}

/** Spans within segments whose counts weren't confirmed as exact. */
export function inexactSpansOf(segments: Segment<string>[]): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = [];
  for (const { from, points } of segments) {
    let before = from;
    for (const { at, exact } of points) {
      const last = spans.at(-1);
      if (!exact && last?.to === before && before !== from) last.to = at;
      else if (!exact) spans.push({ from: before, to: at });
      before = at;
    }
  }
  return spans;
}
