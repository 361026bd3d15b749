import assert from "node:assert/strict";
import { test } from "node:test";
import { enoughText, figureText, groupText, knownText, measuredText, noteText, usedText } from "../../src/job/efficiency/figures.ts";
import type { Efficiency, Figure, TaskGroup } from "../../src/job/efficiency/model.ts";

const GIB = 2 ** 30;
const MEMORY: Figure = {
  name: "memory",
  count: 24,
  mean: GIB,
  p50: GIB,
  p95: 3 * GIB,
  lowest: { value: GIB / 2, task: "frame-1" },
  highest: { value: 4 * GIB, task: "frame-2" },
  offered: 16 * GIB,
};
const GROUP: TaskGroup = {
  prefix: "frame-",
  result: null,
  exitCode: null,
  vmSize: "standard_d4s_v5",
  runs: 24,
  enough: true,
  figures: [MEMORY],
};
const EFFICIENCY: Efficiency = {
  asOf: null,
  runs: 24,
  completedTasks: 30,
  enoughRuns: 20,
  enoughOfAll: 5,
  currency: "USD",
  cost: null,
  usedShares: { cpu: 0.23, memory: null, gpu: null },
  taskLimit: null,
  groups: [GROUP],
  findings: [],
  reason: null,
};

test("figures have the units that people read", () => {
  assert.equal(figureText("duration", 3725), "1 h 2 min");
  assert.equal(figureText("memory", 1.5 * GIB), "1.5 GiB");
  assert.equal(figureText("diskRate", 2 ** 20), "1 MiB/s");
  assert.equal(figureText("cores", 0.875), "0.88");
});

test("the used share is that of 95 % of the runs, and none without an offer", () => {
  assert.equal(usedText(MEMORY), "18.8%");
  assert.equal(usedText({ ...MEMORY, offered: null }), "");
});

test("a group is named by its prefix and VM size", () => {
  assert.equal(groupText(GROUP), "frame-… on standard_d4s_v5, 24 runs");
  assert.equal(groupText({ ...GROUP, prefix: null, vmSize: null, runs: 1 }), "All tasks on an unknown VM size, 1 run");
  assert.equal(groupText({ ...GROUP, prefix: "" }), "Tasks whose ids begin with a digit on standard_d4s_v5, 24 runs");
});

test("groups by exit are named by result and exit code", () => {
  const failed: TaskGroup = { ...GROUP, prefix: null, result: "failure", exitCode: 137 };
  assert.equal(groupText(failed), "Failed with exit code 137 on standard_d4s_v5, 24 runs");
  const followed: TaskGroup = { ...failed, result: "followed", exitCode: null, runs: 1 };
  assert.equal(groupText(followed), "Followed by another run of the task on standard_d4s_v5, 1 run");
});

test("the rule says how many runs are enough", () => {
  const rule = "Advice needs 20 measured runs on a VM size, or 5 where these are all tasks of the job.";
  assert.equal(enoughText(EFFICIENCY), rule);
});

test("how many runs were measured stands beside the completed tasks", () => {
  assert.equal(measuredText(EFFICIENCY), "24 measured runs, 30 completed tasks");
  assert.equal(noteText(EFFICIENCY), "CPU 23% used, 24 measured runs, 30 completed tasks");
  const unknown = { cpu: null, memory: null, gpu: null };
  assert.equal(noteText({ ...EFFICIENCY, usedShares: unknown }), measuredText(EFFICIENCY));
  assert.equal(measuredText({ ...EFFICIENCY, completedTasks: null }), "24 measured runs");
  assert.equal(knownText(MEMORY, GROUP), "");
  assert.equal(knownText({ ...MEMORY, count: 20 }, GROUP), "of 20 runs");
});
