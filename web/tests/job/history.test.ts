import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesOf } from "../../src/charts/history.ts";
import { countsOf, countText, pointDetails, pointText } from "../../src/job/history.ts";
import type { JobPoint } from "../../src/job/model.ts";

const COUNTS = { active: 12_000, preparing: 1, running: 2, completed: 5, succeeded: 4, failed: 1, total: 12_008 };

function point(change: Partial<JobPoint> = {}): JobPoint {
  return { time: "2026-11-21T12:00:00Z", asOf: "2026-11-21T11:59:58Z", exact: true, taskCounts: COUNTS, ...change };
}

test("a series has the task counts of each step, and none for a step without a poll", () => {
  const range = { from: "2026-11-21T11:00:00Z", to: "2026-11-21T12:00:00Z", step: "PT1M" };
  const series = seriesOf({ ...range, value: [point(), point({ taskCounts: null, exact: null })] }, countsOf);
  assert.deepEqual({ from: series.from, to: series.to, step: series.step }, range);
  assert.deepEqual(series.value.map(({ counts }) => counts), [COUNTS, null]);
});

test("a point's details say whether its counts are known and exact", () => {
  assert.equal(pointDetails(point()), "21 Nov, 13:00");
  assert.equal(pointDetails(point({ exact: false })), "21 Nov, 13:00, not confirmed as exact");
  assert.equal(pointDetails(point({ taskCounts: null, exact: null })), "21 Nov, 13:00, not polled");
});

test("a point's text names the states as the page does, in the order of a bar", () => {
  assert.equal(
    pointText(point()),
    "21 Nov, 13:00: 4 succeeded, 1 failed, 2 running, 1 preparing, 12,000 waiting",
  );
  assert.equal(pointText(point({ taskCounts: null })), "21 Nov, 13:00: not polled");
});

test("a cell of the table is empty if its step had no poll", () => {
  assert.equal(countText("total")(point()), "12,008");
  assert.equal(countText("total")(point({ taskCounts: null })), "");
});
