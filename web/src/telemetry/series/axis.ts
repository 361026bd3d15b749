// The time axis that all charts of a node share: its beginning, its steps, and spans without data.

import { linear, type Scale } from "../../charts/scales.ts";
import { median } from "./lines.ts";
import type { SeriesSet } from "./selection.ts";

const MIN_STEPS = 8;
/** A span has no data after this many usual distances between points. */
const NO_DATA_FACTOR = 1.5;

/** Steps of `step` milliseconds that begin at whole multiples of it; `first` is the first one's beginning. */
export interface TimeGrid {
  from: number;
  to: number;
  step: number;
  first: number;
  steps: number;
}

/** The range without the part before the first data, but with a minimum of steps. */
export function timeGridOf(from: number, to: number, { series, step }: SeriesSet, knownSince: number): TimeGrid {
  const firsts = series.map(({ points: [point] }) => (point ? Date.parse(point.time) : Infinity));
  const start = firsts.reduce((least, at) => Math.min(least, at), knownSince);
  const begin = Math.max(from, Math.min(Math.max(start - step, from), to - MIN_STEPS * step));
  const first = Math.floor(begin / step) * step;
  return { from: begin, to: Math.max(to, begin + 1), step, first, steps: Math.max(1, Math.ceil((to - first) / step)) };
}

/** The same time, extended to whole steps. */
export function inWholeSteps(time: TimeGrid): TimeGrid {
  const { first, step, steps } = time;
  return { ...time, from: first, to: first + steps * step };
}

export function timeScale({ from, to }: TimeGrid, left: number, right: number): Scale {
  return linear([from, to], [left, Math.max(left + 1, right)]);
}

/** Spans in which no series has data, between the first and the last step with data. */
export function noDataSpansOf({ series, step }: SeriesSet): { from: number; to: number }[] {
  const distinct = new Set(series.flatMap(({ points }) => points.map(({ time }) => Date.parse(time))));
  const times = [...distinct].sort((one, other) => one - other);
  const reach =
    NO_DATA_FACTOR * Math.max(step, median(times.slice(1).map((time, index) => time - (times[index] ?? time))));
  return times.slice(1).flatMap((to, index) => {
    const from = times[index] ?? to;
    return to - from > reach ? [{ from: from + step, to }] : [];
  });
}

/** The beginning of the step with a moment; of the nearest step if there is none. */
export function stepAt({ first, step, steps }: TimeGrid, moment: number): number {
  const index = Math.floor((moment - first) / step);
  return first + Math.max(0, Math.min(steps - 1, index)) * step;
}
