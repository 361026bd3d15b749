// Lines from series: for each step with data a mean, a minimum and a maximum.

import type { Point, Series } from "./model.ts";

/** A step that begins at `at`. The mean is over the step's readings, so missing readings don't lower it. */
export interface Value {
  at: number;
  mean: number;
  min: number;
  max: number;
}

export interface Line {
  name: string;
  /** In the order of time; values farther apart than `reach`, in milliseconds, have a gap between them. */
  values: Value[];
  reach: number;
}

/** Consecutive values without a gap between them. */
export type Segment = Value[];

/** Series with at least this many values in a step are frequent; gaps begin after so many steps. */
const FREQUENT = 3;
const GAP_IF_FREQUENT = 1.5;
const GAP_IF_RARE = 2.5;

/** Values of a gauge, or the growth per second of a counter; `step` is in milliseconds. */
export function valuesOf({ kind, points }: Series, step: number): Value[] {
  const usual = median(points.map(({ count }) => count));
  return points.map((point) => {
    const mean = kind === "gauge" ? point.sum / point.count : rateOf(point, step, usual);
    return { at: Date.parse(point.time), mean, min: point.min, max: point.max };
  });
}

/**
 * The mean growth per second over the part of a step that its readings cover: the usual number of readings covers a
 * whole step, and the last step isn't over. Limited to the slowest and the fastest growth.
 */
function rateOf({ count, sum, min, max }: Point, step: number, usual: number): number {
  const covered = (step / 1000) * Math.min(1, count / usual);
  return Math.max(min, Math.min(max, sum / covered));
}

/** 1 minus each value. */
export function complement(values: Value[]): Value[] {
  return values.map(({ at, mean, min, max }) => ({ at, mean: 1 - mean, min: 1 - max, max: 1 - min }));
}

/** The whole less a part, for steps with both. */
export function remainderOf(whole: Value[], part: Value[]): Value[] {
  const wholes = new Map(whole.map(({ at, mean }) => [at, mean]));
  return part.flatMap(({ at, mean, min, max }) => {
    const all = wholes.get(at);
    return all === undefined ? [] : [{ at, mean: all - mean, min: all - max, max: all - min }];
  });
}

/** Sums by step; a line without the step counts as 0. Minimum and maximum are bounds, as they may not coincide. */
export function sumOf(all: Value[][]): Value[] {
  return joined(all, (values) => ({
    mean: total(values.map(({ mean }) => mean)),
    min: total(values.map(({ min }) => min)),
    max: total(values.map(({ max }) => max)),
  }));
}

/** Means by step, with the lowest minimum and the highest maximum. */
export function meanOf(all: Value[][]): Value[] {
  return joined(all, (values) => ({
    mean: total(values.map(({ mean }) => mean)) / values.length,
    min: Math.min(...values.map(({ min }) => min)),
    max: Math.max(...values.map(({ max }) => max)),
  }));
}

/**
 * Shares of a whole, for steps where it is known. Divides by the whole's mean: the maximum of a sum of parts is too high
 * if one part grew by as much as another shrank.
 */
export function sharesOf(values: Value[], whole: Value[]): Value[] {
  const wholes = new Map(whole.map(({ at, mean }) => [at, mean]));
  return values.flatMap(({ at, mean, min, max }) => {
    const all = wholes.get(at);
    return all ? [{ at, mean: mean / all, min: min / all, max: max / all }] : [];
  });
}

function joined(all: Value[][], join: (values: Value[]) => Omit<Value, "at">): Value[] {
  const [only] = all;
  if (only && all.length === 1) return only;
  const steps = new Map<number, Value[]>();
  for (const value of all.flat()) {
    const known = steps.get(value.at);
    if (known) known.push(value);
    else steps.set(value.at, [value]);
  }
  return [...steps].sort(([one], [other]) => one - other).map(([at, values]) => ({ at, ...join(values) }));
}

/** The longest time between values without a gap: their usual distance, and some tolerance. */
export function reachOf({ points }: Pick<Series, "points">, step: number): number {
  const apart = points.slice(1).map(({ time }, index) => Date.parse(time) - Date.parse(points[index]?.time ?? time));
  const isFrequent = median(points.map(({ count }) => count)) >= FREQUENT;
  return (isFrequent ? GAP_IF_FREQUENT : GAP_IF_RARE) * Math.max(step, median(apart));
}

export function segmentsOf(values: Value[], reach: number): Segment[] {
  const segments: Segment[] = [];
  for (const value of values) {
    const before = segments.at(-1)?.at(-1);
    if (before && value.at - before.at <= reach) segments.at(-1)?.push(value);
    else segments.push([value]);
  }
  return segments;
}

function total(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** 0 if there are no values. */
export function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
