import assert from "node:assert/strict";
import { test } from "node:test";
import { inWholeSteps, noDataSpansOf, stepAt, timeGridOf, timeScale } from "../../src/telemetry/series/axis.ts";
import type { Series } from "../../src/telemetry/series/model.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

function measures(...minutes: number[][]) {
  const series = minutes.map((each): Series => {
    const points = each.map((minute) => ({
      time: new Date(NOON + minute * MINUTE).toISOString(),
      count: 6,
      min: 0,
      max: 1,
      sum: 1,
      last: 1,
    }));
    return { name: "x", attributes: {}, unit: "1", kind: "gauge", points };
  });
  return { series, step: MINUTE };
}

function minutes(...times: number[]): number[] {
  return times.map((at) => (at - NOON) / MINUTE);
}

test("charts show the whole range if there are data at its beginning", () => {
  const time = timeGridOf(NOON, NOON + 60 * MINUTE, measures([0, 1, 59]), Infinity);
  assert.deepEqual(minutes(time.from, time.to, time.first), [0, 60, 0]);
  assert.equal(time.steps, 60);
});

test("the time before the first data is omitted, but a minimum of steps is shown", () => {
  assert.deepEqual(minutes(timeGridOf(NOON, NOON + 60 * MINUTE, measures([30], [40]), Infinity).from), [29]);
  assert.deepEqual(minutes(timeGridOf(NOON, NOON + 60 * MINUTE, measures([58]), Infinity).from), [52]);
  assert.deepEqual(minutes(timeGridOf(NOON, NOON + 60 * MINUTE, measures(), Infinity).from), [52]);
});

test("a node that existed before its first data is shown from its allocation", () => {
  assert.deepEqual(minutes(timeGridOf(NOON, NOON + 60 * MINUTE, measures([30]), NOON + 10 * MINUTE).from), [9]);
});

test("steps begin at whole multiples though the range doesn't", () => {
  const time = timeGridOf(NOON + 20_000, NOON + 10.5 * MINUTE, measures([0]), Infinity);
  assert.deepEqual([time.from, time.first, time.steps], [NOON + 20_000, NOON, 11]);
  assert.deepEqual(minutes(inWholeSteps(time).from, inWholeSteps(time).to), [0, 11]);
});

test("a range of no length has one step", () => {
  const time = timeGridOf(NOON, NOON, measures(), Infinity);
  assert.ok(time.to > time.from);
  assert.ok(time.steps >= 1);
});

test("a time belongs to the step that contains it, or to the nearest one", () => {
  const time = timeGridOf(NOON, NOON + 10 * MINUTE, measures([0]), Infinity);
  assert.deepEqual(minutes(stepAt(time, NOON + 90_000)), [1]);
  assert.deepEqual(minutes(stepAt(time, NOON - MINUTE)), [0]);
  assert.deepEqual(minutes(stepAt(time, NOON + 99 * MINUTE)), [9]);
});

test("a chart without a width still has positions", () => {
  const x = timeScale(timeGridOf(NOON, NOON + 10 * MINUTE, measures([0]), Infinity), 64, 0);
  assert.deepEqual([x(NOON), x(NOON + 10 * MINUTE)], [64, 65]);
});

test("a span has no data only if no series has any", () => {
  const silent = noDataSpansOf(measures([0, 1, 2, 3, 9, 10], [0, 1, 5]));
  assert.deepEqual(
    silent.map(({ from, to }) => minutes(from, to)),
    [
      [4, 5],
      [6, 9],
    ],
  );
});

test("for data every five minutes, five minutes aren't a span without data", () => {
  assert.deepEqual(noDataSpansOf(measures([0, 5, 10, 15])), []);
  assert.deepEqual(noDataSpansOf(measures([])), []);
  assert.deepEqual(noDataSpansOf(measures([7])), []);
});
