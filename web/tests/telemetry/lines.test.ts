import assert from "node:assert/strict";
import { test } from "node:test";
import {
  complement,
  meanOf,
  median,
  reachOf,
  segmentsOf,
  sharesOf,
  sumOf,
  type Value,
  valuesOf,
} from "../../src/telemetry/series/lines.ts";
import type { Point, Series } from "../../src/telemetry/series/model.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

function point(minute: number, change: Partial<Point> = {}): Point {
  return {
    time: new Date(NOON + minute * MINUTE).toISOString(),
    count: 6,
    min: 0,
    max: 1,
    sum: 3,
    last: 0.5,
    ...change,
  };
}

function series(kind: Series["kind"], ...points: Point[]): Series {
  return { name: "x", attributes: {}, unit: "1", kind, points };
}

function value(at: number, mean: number, min = mean, max = mean): Value {
  return { at, mean, min, max };
}

test("a gauge has the mean of its step", () => {
  assert.deepEqual(valuesOf(series("gauge", point(0)), MINUTE), [value(NOON, 0.5, 0, 1)]);
  assert.deepEqual(valuesOf(series("gauge"), MINUTE), []);
});

test("a counter has its growth per second", () => {
  const [found] = valuesOf(series("counter", point(0, { sum: 600, min: 0, max: 50 })), MINUTE);
  assert.equal(found?.mean, 10);
});

test("an unfinished step has the growth of the part that was read", () => {
  const points = [
    point(0, { sum: 600, min: 0, max: 50 }),
    point(1, { sum: 600, min: 0, max: 50 }),
    point(2, { sum: 100, count: 1, max: 50 }),
  ];
  assert.deepEqual(
    valuesOf(series("counter", ...points), MINUTE).map(({ mean }) => mean),
    [10, 10, 10],
  );
});

test("the growth is limited to the slowest and the fastest that were read", () => {
  assert.equal(valuesOf(series("counter", point(0, { sum: 6000, min: 0, max: 50 })), MINUTE)[0]?.mean, 50);
  assert.equal(valuesOf(series("counter", point(0, { sum: 6, min: 5, max: 50 })), MINUTE)[0]?.mean, 5);
});

test("the complement of idle time swaps minimum and maximum", () => {
  assert.deepEqual(complement([value(0, 0.75, 0.5, 1)]), [value(0, 0.25, 0, 0.5)]);
});

test("series are summed by step, without those that lack the step", () => {
  assert.deepEqual(
    sumOf([
      [value(1, 2), value(2, 3)],
      [value(2, 5), value(0, 1)],
    ]),
    [value(0, 1), value(1, 2), value(2, 8)],
  );
  assert.deepEqual(sumOf([]), []);
});

test("a mean of series has the lowest minimum and the highest maximum", () => {
  assert.deepEqual(meanOf([[value(0, 1, 0, 4)], [value(0, 3, 2, 9)]]), [value(0, 2, 0, 9)]);
});

test("shares need a known whole", () => {
  assert.deepEqual(sharesOf([value(0, 1), value(1, 1), value(2, 1)], [value(0, 4), value(1, 0)]), [value(0, 0.25)]);
});

test("a part that grew by as much as another shrank is divided by the mean of the whole", () => {
  const [used, free] = [[value(0, 50, 10, 90)], [value(0, 50, 10, 90)]];
  assert.deepEqual(sharesOf(used, sumOf([used, free])), [value(0, 0.5, 0.1, 0.9)]);
});

test("values farther apart than usual have a gap between them", () => {
  const values = [0, 1, 2, 5, 6].map((minute) => value(minute * MINUTE, 0));
  assert.deepEqual(
    segmentsOf(values, 1.5 * MINUTE).map(({ length }) => length),
    [3, 2],
  );
  assert.deepEqual(segmentsOf([], MINUTE), []);
  assert.deepEqual(segmentsOf([value(0, 1)], MINUTE), [[value(0, 1)]]);
});

test("values of rare series may be farther apart without a gap", () => {
  const points = [0, 1, 2].map((minute) => point(minute));
  assert.equal(reachOf({ points }, MINUTE), 1.5 * MINUTE);
  assert.equal(reachOf({ points: points.map((each) => ({ ...each, count: 1 })) }, MINUTE), 2.5 * MINUTE);
  assert.equal(reachOf({ points: [point(0), point(5), point(10)] }, MINUTE), 7.5 * MINUTE);
  assert.equal(reachOf({ points: [] }, MINUTE), 2.5 * MINUTE);
});

test("a median needs no order, and doesn't change its input", () => {
  const values = [9, 1, 5];
  assert.equal(median(values), 5);
  assert.deepEqual(values, [9, 1, 5]);
  assert.equal(median([]), 0);
});
