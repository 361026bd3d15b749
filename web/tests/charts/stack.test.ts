import assert from "node:assert/strict";
import { test } from "node:test";
import { linear } from "../../src/charts/scales.ts";
import {
  clippedFrom,
  domainOf,
  inexactSpansOf,
  layersOf,
  maxTotal,
  type Point,
  type Series,
  segmentsOf,
  startOf,
  stepped,
} from "../../src/charts/stack.ts";

type State = "running" | "done";

const STATES: State[] = ["done", "running"];
const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

/** A step of a minute that ends so many minutes past noon; null for a step without a poll. */
function point(minute: number, counts: [done: number, running: number] | null, exact = true): Point<State> {
  const time = new Date(NOON + minute * MINUTE).toISOString();
  return { time, exact: counts && exact, counts: counts && { done: counts[0], running: counts[1] } };
}

function series(points: Point<State>[], minutes = 60): Series<State> {
  const [from, to] = [NOON, NOON + minutes * MINUTE].map((at) => new Date(at).toISOString());
  return { from: from ?? "", to: to ?? "", step: "PT1M", value: points };
}

/** Start and end of segments in minutes, and their number of points. */
function shape(found: { from: number; to: number; points: unknown[] }[]): number[][] {
  return found.map(({ from, to, points }) => [(from - NOON) / MINUTE, (to - NOON) / MINUTE, points.length]);
}

test("a history without points has no segments and no height", () => {
  const found = segmentsOf(series([]));
  assert.deepEqual(found, []);
  assert.equal(maxTotal(found, STATES), 0);
  assert.deepEqual(inexactSpansOf(found), []);
});

test("a single point stands for the step that it ends", () => {
  assert.deepEqual(shape(segmentsOf(series([point(5, [1, 2])]))), [[4, 5, 1]]);
});

test("no step begins before the history does", () => {
  assert.deepEqual(shape(segmentsOf(series([point(0.5, [1, 2])]))), [[0, 0.5, 1]]);
});

test("steps without counts are a gap between two segments, and never zeros", () => {
  const found = segmentsOf(series([point(1, [0, 3]), point(2, null), point(3, null), point(4, [0, 0])]));
  assert.deepEqual(shape(found), [
    [0, 1, 1],
    [1, 3, 0],
    [3, 4, 1],
  ]);
});

test("the height is that of the shown states", () => {
  const found = segmentsOf(series([point(1, [5, 3]), point(2, null), point(3, [7, 0])]));
  assert.equal(maxTotal(found, STATES), 8);
  assert.equal(maxTotal(found, ["running"]), 3);
  assert.equal(maxTotal(found, []), 0);
});

test("a history starts with its subject, or before with an earlier one of the same id", () => {
  const found = segmentsOf(series([point(1, null), point(5, [1, 1])]));
  assert.equal(startOf(found, NOON + 4.5 * MINUTE), NOON + 4.5 * MINUTE);
  assert.equal(startOf(found, NOON + 6 * MINUTE), NOON + 1 * MINUTE);
  assert.equal(startOf([], NOON), NOON);
});

test("everything before a time is cut off, also within a step", () => {
  const found = segmentsOf(series([point(1, null), point(2, [1, 1]), point(3, [1, 1])]));
  assert.deepEqual(shape(clippedFrom(found, NOON + 1.5 * MINUTE)), [[1.5, 3, 2]]);
  assert.deepEqual(clippedFrom(found, NOON + 3 * MINUTE), []);
});

test("states are stacked, and the first step is flat", () => {
  const [segment] = segmentsOf(series([point(1, [2, 1]), point(2, [4, 0])]));
  assert.ok(segment);
  const x = linear([NOON, NOON + 2 * MINUTE], [0, 20]);
  const y = linear([0, 10], [100, 0]);
  assert.deepEqual(layersOf(segment, STATES, x, y), [
    { state: "done", path: "M0.0,80.0L10.0,80.0L20.0,60.0L20.0,100.0L10.0,100.0L0.0,100.0Z" },
    { state: "running", path: "M0.0,70.0L10.0,70.0L20.0,60.0L20.0,60.0L10.0,80.0L0.0,80.0Z" },
  ]);
});

test("a gap has no layers", () => {
  const [gap] = segmentsOf(series([point(1, null)]));
  assert.ok(gap);
  assert.deepEqual(layersOf(gap, STATES, Number, Number), []);
});

test("means hold for their whole step, so that areas have steps", () => {
  const [segment] = segmentsOf(series([point(1, [1, 0]), point(2, [3, 0])]));
  assert.ok(segment);
  assert.deepEqual(
    stepped(segment).points.map(({ at, counts }) => [(at - NOON) / MINUTE, counts.done]),
    [
      [0, 1],
      [1, 1],
      [1, 3],
      [2, 3],
    ],
  );
});

test("a chart omits the time before the start, but shows a minimum of steps", () => {
  const history = series([], 60);
  assert.deepEqual(domainOf(history, -Infinity), [NOON, NOON + 60 * MINUTE]);
  assert.deepEqual(domainOf(history, NOON + 30 * MINUTE), [NOON + 29 * MINUTE, NOON + 60 * MINUTE]);
  assert.deepEqual(domainOf(history, NOON + 59 * MINUTE), [NOON + 55 * MINUTE, NOON + 60 * MINUTE]);
});

test("a history of no length still has a domain", () => {
  assert.deepEqual(domainOf(series([], 0), -Infinity), [NOON, NOON + 1]);
});

test("consecutive inexact steps are one span, which a gap ends", () => {
  const found = segmentsOf(
    series([
      point(1, [1, 1]),
      point(2, [1, 1], false),
      point(3, [1, 1], false),
      point(4, null),
      point(5, [1, 1], false),
    ]),
  );
  assert.deepEqual(
    inexactSpansOf(found).map(({ from, to }) => [(from - NOON) / MINUTE, (to - NOON) / MINUTE]),
    [
      [1, 3],
      [4, 5],
    ],
  );
});
