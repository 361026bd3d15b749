// The time that all charts of a node share: from when on, in which steps, and in which of them nothing came at all.

import { linear, type Scale } from "../../charts/scales.ts";
import { median } from "./lines.ts";
import type { Measures } from "./picking.ts";

const LEAST_STEPS = 8;
/** Times as long as what comes in usually is apart. */
const SILENT = 1.5;

/** Steps of `step` milliseconds that begin at whole multiples of it; `first` is the first one's beginning. */
export interface Time {
  from: number;
  to: number;
  step: number;
  first: number;
  steps: number;
}

/** The range, but for the part of it before anything was there to measure, and some steps at least. */
export function timeOf(from: number, to: number, { series, step }: Measures, begun: number): Time {
  const firsts = series.map(({ points: [point] }) => (point ? Date.parse(point.time) : Infinity));
  const came = firsts.reduce((least, at) => Math.min(least, at), begun);
  const least = Math.max(from, Math.min(Math.max(came - step, from), to - LEAST_STEPS * step));
  const first = Math.floor(least / step) * step;
  return { from: least, to: Math.max(to, least + 1), step, first, steps: Math.max(1, Math.ceil((to - first) / step)) };
}

/** The same in whole steps, as what is measured in a step isn't told apart. */
export function inWholeSteps(time: Time): Time {
  const { first, step, steps } = time;
  return { ...time, from: first, to: first + steps * step };
}

export function placesOf({ from, to }: Time, left: number, right: number): Scale {
  return linear([from, to], [left, Math.max(left + 1, right)]);
}

/** Spans of steps, between the first and the last that has something, in which no series has anything. */
export function silencesOf({ series, step }: Measures): { from: number; to: number }[] {
  const came = new Set(series.flatMap(({ points }) => points.map(({ time }) => Date.parse(time))));
  const times = [...came].sort((one, other) => one - other);
  const reach = SILENT * Math.max(step, median(times.slice(1).map((time, index) => time - (times[index] ?? time))));
  return times.slice(1).flatMap((to, index) => {
    const from = times[index] ?? to;
    return to - from > reach ? [{ from: from + step, to }] : [];
  });
}

/** The step that a moment is in, by its beginning, as far as there are steps. */
export function stepAt({ first, step, steps }: Time, moment: number): number {
  const index = Math.floor((moment - first) / step);
  return first + Math.max(0, Math.min(steps - 1, index)) * step;
}
