import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { countTicks, linear, timeTicks } from "../../src/charts/scales.ts";

const HOUR = 3_600_000;

function at(time: string): number {
  return Date.parse(time);
}

/** Labels of the ticks between two moments. */
function labels(from: string, to: string, tickCount: number): string[] {
  return timeTicks(at(from), at(to), tickCount).map(({ label }) => label);
}

test("a scale is a straight line, also beyond its domain", () => {
  const x = linear([10, 20], [100, 300]);
  assert.deepEqual([10, 15, 20, 25, 5].map(x), [100, 200, 300, 400, 0]);
});

test("a scale may run backwards on the screen", () => {
  assert.deepEqual([0, 4].map(linear([0, 4], [260, 10])), [260, 10]);
});

test("an empty or reversed domain maps to the start", () => {
  assert.deepEqual([0, 5, 9].map(linear([5, 5], [40, 80])), [40, 40, 40]);
  assert.equal(linear([6, 5], [40, 80])(5.5), 40);
});

test("counts have round ticks up to the maximum", () => {
  assert.deepEqual(countTicks(97, 4), [0, 25, 50, 75, 100]);
  assert.deepEqual(countTicks(100, 4), [0, 25, 50, 75, 100]);
  assert.deepEqual(countTicks(101, 4), [0, 50, 100, 150]);
});

test("small counts have integer ticks, and zero still has an axis", () => {
  assert.deepEqual(countTicks(0, 4), [0, 1]);
  assert.deepEqual(countTicks(1, 4), [0, 1]);
  assert.deepEqual(countTicks(3, 4), [0, 1, 2, 3]);
  assert.deepEqual(countTicks(10, 4), [0, 3, 6, 9, 12]);
});

test("ticks of huge counts stay few, and reach them", () => {
  for (const most of [12_345_678, 1e12, Number.MAX_SAFE_INTEGER]) {
    const ticks = countTicks(most, 4);
    assert.ok(ticks.length <= 6, `${ticks.length} ticks up to ${most}`);
    assert.ok((ticks.at(-1) ?? 0) >= most);
  }
});

test("ticks of an hour are minutes", () => {
  assert.deepEqual(labels("2026-11-21T12:03:00Z", "2026-11-21T13:03:00Z", 4), ["13:15", "13:30", "13:45", "14:00"]);
});

test("ticks of some seconds have seconds", () => {
  assert.deepEqual(labels("2026-11-21T12:00:01Z", "2026-11-21T12:00:21Z", 4), [
    "13:00:05",
    "13:00:10",
    "13:00:15",
    "13:00:20",
  ]);
});

test("a tick that begins a day names it", () => {
  const ticks = timeTicks(at("2026-11-20T20:00:00Z"), at("2026-11-21T02:00:00Z"), 3);
  assert.deepEqual(
    ticks.map(({ label, strong }) => [label, strong]),
    [
      ["22:00", false],
      ["21 Nov", true],
      ["02:00", false],
    ],
  );
});

test("an empty span has at most the tick at its own time", () => {
  assert.deepEqual(labels("2026-11-21T12:00:01Z", "2026-11-21T12:00:01Z", 4), []);
  assert.deepEqual(labels("2026-11-21T12:00:00Z", "2026-11-21T12:00:00Z", 4), ["13:00:00"]);
});

test("a chart without a width has at most two ticks", () => {
  assert.ok(labels("2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z", 0).length <= 2);
});

test("ticks of weeks are days that begin at midnight, also when the clocks were changed", () => {
  const ticks = timeTicks(at("2026-10-20T12:00:00Z"), at("2026-10-30T12:00:00Z"), 10);
  assert.deepEqual(ticks.map(({ label }) => label).slice(0, 7), [
    "21 Oct",
    "22 Oct",
    "23 Oct",
    "24 Oct",
    "25 Oct",
    "26 Oct",
    "27 Oct",
  ]);
  assert.ok(ticks.every((tick) => new Date(tick.at).getHours() === 0));
});

test("ticks of months and years stay few", () => {
  assert.ok(timeTicks(at("2026-08-01T00:00:00Z"), at("2026-11-01T00:00:00Z"), 8).length <= 9);
  const years = timeTicks(at("2016-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), 8);
  assert.ok(years.length >= 6);
  assert.ok(years.length <= 9);
});

test("ticks of hours stay at round hours after clocks went forward", () => {
  const shown = labels("2026-03-28T22:30:00Z", "2026-03-29T16:00:00Z", 7);
  assert.deepEqual(shown, ["29 Mar", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00"]);
});

test("ticks of hours stay at round hours after clocks went back, and midnight names its day", () => {
  const shown = labels("2026-10-24T19:00:00Z", "2026-10-26T12:00:00Z", 8);
  assert.deepEqual(shown, ["25 Oct", "06:00", "12:00", "18:00", "26 Oct", "06:00", "12:00"]);
});

test("ticks of every hour omit the skipped hour, and have the repeated hour twice", () => {
  assert.deepEqual(labels("2026-03-28T23:00:00Z", "2026-03-29T03:00:00Z", 4), [
    "29 Mar",
    "01:00",
    "03:00",
    "04:00",
    "05:00",
  ]);
  assert.deepEqual(labels("2026-10-24T22:00:00Z", "2026-10-25T02:00:00Z", 4), [
    "25 Oct",
    "01:00",
    "02:00",
    "02:00",
    "03:00",
  ]);
});

test("ticks are in order and within the range, for any start on days when clocks change", () => {
  for (const change of ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]) {
    for (let before = 0; before < 24; before++) {
      for (const length of [0.5, 2, 6, 24, 100, 400]) {
        const from = at(change) - before * HOUR;
        const to = from + length * HOUR;
        const times = timeTicks(from, to, 9).map((tick) => tick.at);
        assert.deepEqual(
          times,
          [...new Set(times)].sort((one, other) => one - other),
        );
        assert.ok(times.every((time) => time >= from && time <= to));
        assert.ok(times.length <= 11);
      }
    }
  }
});
