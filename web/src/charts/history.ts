// The shape that histories of jobs and pools share, in the API and on the page.

import type { ComponentChildren } from "preact";
import type { Columns } from "./HistoryTable.tsx";
import type { LegendEntry } from "./StateLegend.tsx";
import type { Scale } from "./scales.ts";
import type { Series } from "./stack.ts";

/** The numbers at the end of a step, and whether they were confirmed as exact. */
export interface HistoryPoint {
  time: string;
  exact: boolean | null;
}

/** A history in the API; `step` is an ISO 8601 duration, such as "PT1M". */
export interface History<Point> {
  from: string;
  to: string;
  step: string;
  value: Point[];
}

/** Words about means of steps. */
export interface Means<Point> {
  /** Why a step has none. */
  gap: string;
  /** The heading of steps in the table, and the name of a point's step. */
  heading: string;
  stepOf: (point: Point) => string;
}

/** Describes histories of one kind of resource, such as pools. */
export interface HistoryKind<Point extends HistoryPoint, State extends string> {
  /** The kind of resource, such as "pool". */
  noun: string;
  /** Names the numbers in the chart. */
  caption: string;
  /** A point's numbers by state; null if no poll ran in that step. */
  countsOf: (point: Point) => Record<State, number> | null;
  /** The states that can be shown, the first at the bottom. */
  statesOf: (series: Series<State>) => readonly State[];
  /** Precedes the state in the name of a layer. */
  layerPrefix?: string;
  entryOf: (state: State) => Omit<LegendEntry<State>, "state" | "number">;
  /** A point's time and other numbers. */
  details: (point: Point) => string;
  /** The same with the states, for screen readers. */
  textOf: (point: Point) => string;
  columns: Columns<Point>;
  /** Present where a point is the mean of its step instead of the numbers that a poll saw at its end. */
  means?: Means<Point>;
  /** Explains signs in the chart other than those of all histories. */
  signs?: (points: readonly Point[]) => ComponentChildren;
  /** Renders contents above the states, up to the value `overlayHeight`. */
  overlay?: (history: History<Point>, created: number, x: Scale, y: Scale) => ComponentChildren;
  overlayHeight?: (points: readonly Point[]) => number;
}

export function seriesOf<Point extends HistoryPoint, State extends string>(
  history: History<Point>,
  countsOf: HistoryKind<Point, State>["countsOf"],
): Series<State> {
  const value = history.value.map((point) => ({ time: point.time, exact: point.exact, counts: countsOf(point) }));
  return { ...history, value };
}
