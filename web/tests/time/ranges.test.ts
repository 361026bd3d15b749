import "../zone.ts";
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { beginOf, RANGES, rangeFor } from "../../src/time/ranges.ts";

const NOW = Date.parse("2026-11-21T12:34:56.789Z");
const HOUR = 3_600_000;

beforeEach(() => mock.timers.enable({ apis: ["Date"], now: NOW }));
afterEach(() => mock.timers.reset());

function aged(hours: number, state = "completed") {
  return { state, creationTime: new Date(NOW - hours * HOUR).toISOString() };
}

test("a completed job is shown in the shortest range that covers all of it", () => {
  assert.equal(rangeFor(aged(0.5)), "1h");
  assert.equal(rangeFor(aged(1)), "1h");
  assert.equal(rangeFor(aged(5)), "6h");
  assert.equal(rangeFor(aged(20)), "24h");
  assert.equal(rangeFor(aged(100)), "7d");
  assert.equal(rangeFor(aged(24 * 60)), "90d");
});

test("a live job is shown in at most a day", () => {
  assert.equal(rangeFor(aged(5, "active")), "6h");
  assert.equal(rangeFor(aged(100, "active")), "24h");
});

test("with an unknown age, or one beyond every range, a day is shown", () => {
  assert.equal(rangeFor(null), "24h");
  assert.equal(rangeFor({ state: "completed", creationTime: null }), "24h");
  assert.equal(rangeFor(aged(24 * 91)), "24h");
});

test("a job that seems to be created in the future, as clocks differ, is young", () => {
  assert.equal(rangeFor(aged(-0.1)), "1h");
});

test("a range begins on its grid, so that its path stays the same for a while", () => {
  assert.equal(beginOf("1h"), "2026-11-21T11:34:00Z");
  assert.equal(beginOf("6h"), "2026-11-21T06:30:00Z");
  assert.equal(beginOf("24h"), "2026-11-20T12:30:00Z");
  assert.equal(beginOf("7d"), "2026-11-14T12:00:00Z");
  assert.equal(beginOf("90d"), "2026-08-23T00:00:00Z");
});

test("no range begins before the earliest moment, which keeps its fraction", () => {
  assert.equal(beginOf("1h", NOW - 60_000), "2026-11-21T12:33:56.789Z");
  assert.equal(beginOf("1h", NOW - 2 * HOUR), "2026-11-21T11:34:00Z");
});

test("a range with a minimum step moves on rarely", () => {
  assert.equal(beginOf("1h", -Infinity, 5 * 60_000), "2026-11-21T11:30:00Z");
  assert.equal(beginOf("7d", -Infinity, 5 * 60_000), beginOf("7d"));
});

test("every range begins within its length and a grid of now", () => {
  for (const range of RANGES) assert.ok(Date.parse(beginOf(range)) < NOW, range);
});
