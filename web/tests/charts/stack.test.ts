import assert from "node:assert/strict";
import { test } from "node:test";
import { linear } from "../../src/charts/scales.ts";
import {
  beginningOf,
  domainOf,
  doubtsOf,
  heightOf,
  layersOf,
  type Point,
  type Series,
  since,
  stretchesOf,
} from "../../src/charts/stack.ts";

type State = "running" | "done";

const STATES: State[] = ["done", "running"];
const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

/** A step of a minute that ends so many minutes past noon; null where nobody asked. */
function point(minute: number, counts: [done: number, running: number] | null, exact = true): Point<State> {
  const time = new Date(NOON + minute * MINUTE).toISOString();
  return { time, exact: counts && exact, counts: counts && { done: counts[0], running: counts[1] } };
}

function series(points: Point<State>[], minutes = 60): Series<State> {
  const [from, to] = [NOON, NOON + minutes * MINUTE].map((at) => new Date(at).toISOString());
  return { from: from ?? "", to: to ?? "", step: "PT1M", value: points };
}

/** Where stretches begin and end, in minutes, and how many points they have. */
function shape(found: { from: number; to: number; points: unknown[] }[]): number[][] {
  return found.map(({ from, to, points }) => [(from - NOON) / MINUTE, (to - NOON) / MINUTE, points.length]);
}

test("a history without points has no stretches and no height", () => {
  const found = stretchesOf(series([]));
  assert.deepEqual(found, []);
  assert.equal(heightOf(found, STATES), 0);
  assert.deepEqual(doubtsOf(found), []);
});

test("a single point stands for the step that it ends", () => {
  assert.deepEqual(shape(stretchesOf(series([point(5, [1, 2])]))), [[4, 5, 1]]);
});

test("no step begins before the history does", () => {
  assert.deepEqual(shape(stretchesOf(series([point(0.5, [1, 2])]))), [[0, 0.5, 1]]);
});

test("steps without counts are a gap between two stretches, and never zeros", () => {
  const found = stretchesOf(series([point(1, [0, 3]), point(2, null), point(3, null), point(4, [0, 0])]));
  assert.deepEqual(shape(found), [
    [0, 1, 1],
    [1, 3, 0],
    [3, 4, 1],
  ]);
});

test("the height is that of the states that are shown", () => {
  const found = stretchesOf(series([point(1, [5, 3]), point(2, null), point(3, [7, 0])]));
  assert.equal(heightOf(found, STATES), 8);
  assert.equal(heightOf(found, ["running"]), 3);
  assert.equal(heightOf(found, []), 0);
});

test("a story begins with its subject, or before with an earlier one of the same id", () => {
  const found = stretchesOf(series([point(1, null), point(5, [1, 1])]));
  assert.equal(beginningOf(found, NOON + 4.5 * MINUTE), NOON + 4.5 * MINUTE);
  assert.equal(beginningOf(found, NOON + 6 * MINUTE), NOON + 1 * MINUTE);
  assert.equal(beginningOf([], NOON), NOON);
});

test("what lies before a moment is left out, be it within a step", () => {
  const found = stretchesOf(series([point(1, null), point(2, [1, 1]), point(3, [1, 1])]));
  assert.deepEqual(shape(since(found, NOON + 1.5 * MINUTE)), [[1.5, 3, 2]]);
  assert.deepEqual(since(found, NOON + 3 * MINUTE), []);
});

test("states are stacked upon each other, and the first step is flat", () => {
  const [stretch] = stretchesOf(series([point(1, [2, 1]), point(2, [4, 0])]));
  assert.ok(stretch);
  const x = linear([NOON, NOON + 2 * MINUTE], [0, 20]);
  const y = linear([0, 10], [100, 0]);
  assert.deepEqual(layersOf(stretch, STATES, x, y), [
    { state: "done", path: "M0.0,80.0L10.0,80.0L20.0,60.0L20.0,100.0L10.0,100.0L0.0,100.0Z" },
    { state: "running", path: "M0.0,70.0L10.0,70.0L20.0,60.0L20.0,60.0L10.0,80.0L0.0,80.0Z" },
  ]);
});

test("a gap has no layers", () => {
  const [gap] = stretchesOf(series([point(1, null)]));
  assert.ok(gap);
  assert.deepEqual(layersOf(gap, STATES, Number, Number), []);
});

test("a chart leaves out what was before the beginning, but shows some steps at least", () => {
  const history = series([], 60);
  assert.deepEqual(domainOf(history, -Infinity), [NOON, NOON + 60 * MINUTE]);
  assert.deepEqual(domainOf(history, NOON + 30 * MINUTE), [NOON + 29 * MINUTE, NOON + 60 * MINUTE]);
  assert.deepEqual(domainOf(history, NOON + 59 * MINUTE), [NOON + 55 * MINUTE, NOON + 60 * MINUTE]);
});

test("a history of no length has a domain all the same", () => {
  assert.deepEqual(domainOf(series([], 0), -Infinity), [NOON, NOON + 1]);
});

test("steps in a row that aren't exact are one doubt, and a gap is none", () => {
  const found = stretchesOf(
    series([
      point(1, [1, 1]),
      point(2, [1, 1], false),
      point(3, [1, 1], false),
      point(4, null),
      point(5, [1, 1], false),
    ]),
  );
  assert.deepEqual(
    doubtsOf(found).map(({ from, to }) => [(from - NOON) / MINUTE, (to - NOON) / MINUTE]),
    [
      [1, 3],
      [4, 5],
    ],
  );
});
