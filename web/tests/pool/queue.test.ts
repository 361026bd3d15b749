import assert from "node:assert/strict";
import { test } from "node:test";
import type { Queue, QueuedJob } from "../../src/pool/queue/model.ts";
import { queueText, readyText, shareText, startText } from "../../src/pool/queue/texts.ts";

const QUEUE: Queue = {
  value: [],
  count: 2,
  asOf: null,
  jobDefaultOrder: "none",
  freeSlots: 0,
  tasksEndedPerMinute: 12.5,
  waitingTasks: 1412,
  moreJobs: 0,
  unknown: [],
};
const JOB = { readyTasks: 40, waitingTasks: 50, share: 0.25 } as QueuedJob;

test("the summary says what waits, what is free, the order and the rate", () => {
  assert.equal(
    queueText(QUEUE),
    "1,412 tasks of 2 jobs wait for slots; none is free. Among equal priorities jobs share slots equally. Lately 12.5 tasks ended per minute.",
  );
  assert.equal(
    queueText({ ...QUEUE, count: 1, waitingTasks: 1, freeSlots: 1, jobDefaultOrder: "creationtime", tasksEndedPerMinute: 0 }),
    "1 task of 1 job waits for slots; 1 is free. Among equal priorities the oldest job goes first.",
  );
  assert.equal(
    queueText({ ...QUEUE, freeSlots: null, tasksEndedPerMinute: null }),
    "1,412 tasks of 2 jobs wait for slots. Among equal priorities jobs share slots equally.",
  );
});

test("an order that isn't known is said to be", () => {
  assert.match(queueText({ ...QUEUE, jobDefaultOrder: null }), /Among equal priorities it isn't known which job goes first\./);
});

test("ready tasks are counted of the waiting ones", () => {
  assert.equal(readyText(JOB), "40 of 50");
  assert.equal(readyText({ ...JOB, readyTasks: null }), "not known");
});

test("a share is a percentage, and a whole one is all", () => {
  assert.equal(shareText(JOB), "25%");
  assert.equal(shareText({ ...JOB, share: 0.333333 }), "33.3%");
  assert.equal(shareText({ ...JOB, share: 1 }), "all");
  assert.equal(shareText({ ...JOB, share: null }), "–");
});

test("a start is a time from now, until it is over", () => {
  const now = Date.parse("2026-11-29T12:00:00Z");
  assert.equal(startText("2026-11-29T12:03:20Z", now), "in 3 min 20 s");
  assert.equal(startText("2026-11-29T12:00:00Z", now), "now");
  assert.equal(startText("2026-11-29T11:00:00Z", now), "now");
});
