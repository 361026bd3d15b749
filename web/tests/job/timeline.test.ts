import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bucket, Run, Timeline } from "../../src/job/timeline/model.ts";
import { extentOf, laneBox, maxSlots, nextMark, rowsOf, slotTimeText } from "../../src/job/timeline/timelineRows.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

function moment(minute: number): string {
  return new Date(NOON + minute * MINUTE).toISOString();
}

function run(from: number, to: number | null, task = "t", result: Run["result"] = to === null ? null : "success"): Run {
  return { task, start: moment(from), end: to === null ? null : moment(to), result, slots: 1 };
}

function timeline(...nodes: Run[][]): Timeline {
  const listed = nodes.map((runs, index) => ({ poolId: "gpu", nodeId: `n${index}`, runs, busySlotSeconds: 0 }));
  return { asOf: moment(60), from: moment(0), to: moment(60), nodes: listed, otherNodes: 0, aggregated: false };
}

function rows(found: Timeline) {
  return rowsOf(found, NOON + 60 * MINUTE);
}

test("consecutive runs share a lane, simultaneous ones have one each", () => {
  const [row] = rows(timeline([run(0, 10), run(5, 15), run(10, 20), run(12, 13)]));
  assert.deepEqual(
    row?.marks.map(({ lane }) => lane),
    [0, 1, 0, 2],
  );
  assert.equal(row?.lanes, 3);
});

test("a running task's run ends now, and never before it began", () => {
  const [row] = rows(timeline([run(50, null), run(70, null)]));
  assert.deepEqual(
    row?.marks.map(({ from, to }) => (to - from) / MINUTE),
    [10, 0],
  );
});

test("a mark's label has task, outcome, time and duration", () => {
  const [row] = rows(timeline([run(0, 1.5, "frame-7", "failure"), run(2, null, "frame-8")]));
  assert.deepEqual(
    row?.marks.map(({ label }) => label),
    [
      "frame-7 · failed · 21 Nov, 13:00:00 to 21 Nov, 13:01:30 · 1 min 30 s",
      "frame-8 · running · since 21 Nov, 13:02:00 · 58 min",
    ],
  );
});

test("a node without runs has a row of the least height, and rows don't overlap", () => {
  const found = rows(timeline([], [run(0, 1), run(0, 1), run(0, 1)], []));
  assert.deepEqual(
    found.map(({ top, height }) => [top, height]),
    [
      [0, 36],
      [36, 46],
      [82, 36],
    ],
  );
  for (const row of found) {
    for (let lane = 0; lane < row.lanes; lane++) {
      const box = laneBox(row, lane);
      assert.ok(box.y >= row.top && box.y + box.height <= row.top + row.height);
    }
  }
});

test("steps have the number of slots in use, and the share of failed tasks", () => {
  const bucket: Bucket = { start: moment(0), end: moment(1), tasks: 4, busySlotSeconds: 120, failed: 1 };
  const idle = { ...bucket, start: moment(1), end: moment(2), tasks: 0, busySlotSeconds: 0, failed: 0 };
  const nodes = [{ poolId: null, nodeId: null, buckets: [bucket, idle], busySlotSeconds: 120 }];
  const found = rows({ ...timeline(), aggregated: true, nodes });
  assert.deepEqual(
    found[0]?.marks.map(({ load }) => load),
    [
      { slots: 2, failed: 0.25 },
      { slots: 0, failed: 0 },
    ],
  );
  assert.equal(maxSlots(found), 2);
  assert.deepEqual(extentOf(timeline(), found), [NOON - 1000, NOON + MINUTE + 1000]);
});

test("without any slots in use the scale isn't empty", () => {
  assert.equal(maxSlots([]), 1);
});

test("the chart shows the part of the range with runs, or all of it", () => {
  const found = timeline([run(30, 40)]);
  assert.deepEqual(extentOf(found, rows(found)), [NOON + 30 * MINUTE - 6000, NOON + 40 * MINUTE + 6000]);
  assert.deepEqual(extentOf(timeline([]), rows(timeline([]))), [NOON, NOON + 60 * MINUTE]);
  const early = timeline([run(-30, 40)]);
  assert.equal(extentOf(early, rows(early))[0], NOON - 24_000);
});

test("keys move along a row, and to the next run in another row", () => {
  const found = rows(timeline([run(0, 1), run(10, 11)], [], [run(5, 6), run(20, 21)], [run(1, 2)]));
  assert.deepEqual(nextMark(found, null, "ArrowRight"), [0, 0]);
  assert.deepEqual(nextMark(found, [0, 0], "ArrowRight"), [0, 1]);
  assert.deepEqual(nextMark(found, [0, 1], "ArrowRight"), null);
  assert.deepEqual(nextMark(found, [0, 0], "ArrowLeft"), null);
  assert.deepEqual(nextMark(found, [2, 0], "ArrowDown"), [3, 0]);
  assert.deepEqual(nextMark(found, [0, 0], "ArrowUp"), null);
  assert.deepEqual(nextMark(found, null, "ArrowDown"), [0, 0]);
  assert.deepEqual(nextMark(found, [0, 0], "Enter"), null);
});

test("the usage of a node is in slot-minutes or slot-hours", () => {
  assert.equal(slotTimeText(0), "0 slot-minutes");
  assert.equal(slotTimeText(720), "12 slot-minutes");
  assert.equal(slotTimeText(3600), "1 slot-hours");
  assert.equal(slotTimeText(15_120_000), "4.2K slot-hours");
});
