import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityOf, type LoggedEvent, runText } from "../../src/telemetry/series/runs.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const MINUTE = 60_000;

function logged(
  kind: string,
  minute: number,
  task: string | null = "t",
  change: Partial<LoggedEvent> = {},
): LoggedEvent {
  const time = new Date(NOON + minute * MINUTE).toISOString();
  const ids = { jobId: task && "render", taskId: task, poolId: "gpu", nodeId: "n" };
  return { id: `${kind} ${minute} ${task}`, time, kind, summary: kind, ...ids, ...change };
}

/** When runs began and ended, in minutes, and in which lane. */
function shape(...events: LoggedEvent[]): number[][] {
  return activityOf(events).runs.map(({ from, to, lane }) => [(from - NOON) / MINUTE, (to - NOON) / MINUTE, lane]);
}

test("a run goes from its start to its end, in any order of the events", () => {
  assert.deepEqual(shape(logged("TaskCompleteEvent", 5), logged("TaskStartEvent", 0)), [[0, 5, 0]]);
});

test("a run without an end is running, one without a start began before the log", () => {
  assert.deepEqual(shape(logged("TaskStartEvent", 0)), [[0, Infinity, 0]]);
  assert.deepEqual(shape(logged("TaskCompleteEvent", 5)), [[-Infinity, 5, 0]]);
});

test("a task that failed is logged twice, and ran once", () => {
  const activity = activityOf([
    logged("TaskStartEvent", 0),
    logged("TaskFailEvent", 5),
    logged("TaskCompleteEvent", 5.01),
  ]);
  assert.deepEqual(
    activity.runs.map(({ failed }) => failed),
    [true],
  );
  assert.equal(activity.marks.length, 1);
});

test("the node's own times take precedence over those of the log", () => {
  const executionInfo = {
    startTime: new Date(NOON + 1000).toISOString(),
    endTime: new Date(NOON + 61_000).toISOString(),
  };
  const [run] = activityOf([
    logged("TaskStartEvent", 0),
    logged("TaskCompleteEvent", 5, "t", { properties: { executionInfo } }),
  ]).runs;
  assert.deepEqual([run?.from, run?.to], [NOON + 1000, NOON + 61_000]);
});

test("invalid times are ignored", () => {
  for (const executionInfo of [null, {}, { startTime: 5, endTime: "soon" }]) {
    const ended = logged("TaskCompleteEvent", 5, "t", { properties: { executionInfo } });
    assert.deepEqual(shape(logged("TaskStartEvent", 0), ended), [[0, 5, 0]]);
  }
});

test("the run of a retried task ends where the next one starts", () => {
  const activity = activityOf([
    logged("TaskStartEvent", 0),
    logged("TaskStartEvent", 3, "t", { internalRetry: true }),
    logged("TaskCompleteEvent", 5),
  ]);
  assert.deepEqual(
    activity.runs.map(({ from, to, retried }) => [(from - NOON) / MINUTE, (to - NOON) / MINUTE, retried]),
    [
      [0, 3, true],
      [3, 5, false],
    ],
  );
});

test("tasks of the same id in other jobs are other tasks", () => {
  const other = { jobId: "encode" };
  assert.equal(
    shape(logged("TaskStartEvent", 0), logged("TaskStartEvent", 1, "t", other), logged("TaskCompleteEvent", 2)).length,
    2,
  );
});

test("simultaneous runs have their own lanes, with a tolerance for clocks", () => {
  const events = ["a", "b"].flatMap((task) => [
    logged("TaskStartEvent", 0, task),
    logged("TaskCompleteEvent", 5, task),
  ]);
  assert.deepEqual(
    shape(...events).map(([, , lane]) => lane),
    [0, 1],
  );
  const next = [logged("TaskStartEvent", 4.99, "c"), logged("TaskCompleteEvent", 6, "c")];
  assert.deepEqual(
    shape(...events, ...next).map(([, , lane]) => lane),
    [0, 1, 0],
  );
});

test("more simultaneous runs than lanes are counted and not drawn", () => {
  const events = Array.from({ length: 15 }, (_, index) => logged("TaskStartEvent", 0, `t${index}`));
  const activity = activityOf(events);
  assert.deepEqual([activity.runs.length, activity.lanes, activity.hiddenRuns], [12, 12, 3]);
});

test("a log without tasks has one lane, and other events are marked", () => {
  const activity = activityOf([logged("PoolResizeStartEvent", 0, null), logged("TaskScheduleFailEvent", 1)]);
  assert.deepEqual([activity.lanes, activity.runs.length], [1, 0]);
  assert.deepEqual(
    activity.marks.map(({ label }) => label),
    ["21 Nov, 13:00:00 · PoolResizeStartEvent", "21 Nov, 13:01:00 · TaskScheduleFailEvent"],
  );
});

test("a run's text has its known parts", () => {
  const run = { job: "render", task: "t", from: NOON, to: NOON + 125_000, failed: false, retried: false, lane: 0 };
  assert.equal(runText(run, NOON), "t of render · ended · 21 Nov, 13:00:00 to 21 Nov, 13:02:05 · 0 s");
  assert.equal(
    runText(run, NOON + MINUTE * 60),
    "t of render · ended · 21 Nov, 13:00:00 to 21 Nov, 13:02:05 · 2 min 5 s",
  );
  assert.equal(
    runText({ ...run, to: Infinity }, NOON + MINUTE),
    "t of render · running · since 21 Nov, 13:00:00 · 1 min",
  );
  assert.equal(
    runText({ ...run, from: -Infinity, failed: true }, NOON),
    "t of render · failed · started before the loaded events, ended 21 Nov, 13:02:05",
  );
});
