// What series say of each step: a mean between a lowest and a highest value. A step in which nothing came has none.

import type { Point, Series } from "./model.ts";

/** A step that begins at `at`; the mean is of what was measured in it, so it is no less right where some is missing. */
export interface Value {
  at: number;
  mean: number;
  min: number;
  max: number;
}

export interface Line {
  name: string;
  /** In the order of time; those farther apart than `reach`, in milliseconds, have a gap between them. */
  values: Value[];
  reach: number;
}

/** Values of steps that follow one another, with no gap between. */
export type Stretch = Value[];

/** Steps apart, where fewer than this many values come in one: a gap only shows when some fail to come. */
const OFTEN = 3;
const GAP_OF_OFTEN = 1.5;
const GAP_OF_SELDOM = 2.5;

/** Of a gauge its values, of a counter its growth a second; `step` is in milliseconds. */
export function valuesOf({ kind, points }: Series, step: number): Value[] {
  const usual = median(points.map(({ count }) => count));
  return points.map((point) => {
    const mean = kind === "gauge" ? point.sum / point.count : rateOf(point, step, usual);
    return { at: Date.parse(point.time), mean, min: point.min, max: point.max };
  });
}

/**
 * The mean growth a second over the part of a step that its readings cover, as the usual number of readings covers it
 * all: the last step isn't over yet. It can't be below the slowest growth or above the fastest.
 */
function rateOf({ count, sum, min, max }: Point, step: number, usual: number): number {
  const covered = (step / 1000) * Math.min(1, count / usual);
  return Math.max(min, Math.min(max, sum / covered));
}

/** What is left of 1. */
export function rest(values: Value[]): Value[] {
  return values.map(({ at, mean, min, max }) => ({ at, mean: 1 - mean, min: 1 - max, max: 1 - min }));
}

/** All together; of steps that one of them lacks, the others. The lowest and highest are bounds: they may not have met. */
export function sumOf(all: Value[][]): Value[] {
  return joined(all, (values) => ({
    mean: total(values.map(({ mean }) => mean)),
    min: total(values.map(({ min }) => min)),
    max: total(values.map(({ max }) => max)),
  }));
}

/** The mean of all, between the lowest and the highest of any. */
export function meanOf(all: Value[][]): Value[] {
  return joined(all, (values) => ({
    mean: total(values.map(({ mean }) => mean)) / values.length,
    min: Math.min(...values.map(({ min }) => min)),
    max: Math.max(...values.map(({ max }) => max)),
  }));
}

/**
 * As shares of the whole, where that is known: of its mean, as the most of a whole that is summed up of parts is more than
 * they ever came to where one grew by what another lost.
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

/** How far apart values may be without a gap between them: as far as they usually are, or a little more. */
export function reachOf({ points }: Pick<Series, "points">, step: number): number {
  const apart = points.slice(1).map(({ time }, index) => Date.parse(time) - Date.parse(points[index]?.time ?? time));
  const often = median(points.map(({ count }) => count)) >= OFTEN;
  return (often ? GAP_OF_OFTEN : GAP_OF_SELDOM) * Math.max(step, median(apart));
}

export function stretchesOf(values: Value[], reach: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (const value of values) {
    const before = stretches.at(-1)?.at(-1);
    if (before && value.at - before.at <= reach) stretches.at(-1)?.push(value);
    else stretches.push([value]);
  }
  return stretches;
}

function total(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** 0 of none. */
export function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
