import assert from "node:assert/strict";
import { test } from "node:test";
import type { LiveTask } from "../../src/job/taskpanel/model.ts";
import { attemptsText, causeText, failureLines, stateOf, waitedText } from "../../src/job/taskpanel/outcome.ts";

const FAILED: LiveTask = {
  id: "frame-00",
  state: "completed",
  exitCodeText: "exit code 137: SIGKILL, killed, often for lack of memory",
  executionInfo: {
    exitCode: 137,
    result: "failure",
    failureInfo: { category: "userError", code: "FailureExitCode", message: "The task exited with a failure." },
  },
};

test("a completed task has its result, any other its state", () => {
  assert.equal(stateOf(FAILED), "failed");
  assert.equal(stateOf({ ...FAILED, executionInfo: { result: "Success" } }), "succeeded");
  assert.equal(stateOf({ ...FAILED, state: "running", executionInfo: null }), "running");
});

test("an exit code that is the cause comes in words, without Batch's repetition of it", () => {
  assert.equal(causeText(FAILED), "Exit code 137: SIGKILL, killed, often for lack of memory");
  assert.deepEqual(failureLines(FAILED.executionInfo ?? {}), []);
});

test("another cause comes with Batch's details", () => {
  const failureInfo = {
    category: "userError",
    code: "BlobNotFound",
    message: "A resource file wasn't found.",
    details: [{ name: "BlobSource", value: "https://a.blob.core.windows.net/c/b" }, {}],
  };
  const task = { ...FAILED, exitCodeText: null, executionInfo: { result: "failure", failureInfo } };
  assert.equal(causeText(task), "Blob not found");
  assert.deepEqual(failureLines(task.executionInfo), [
    "A resource file wasn't found.",
    "BlobSource: https://a.blob.core.windows.net/c/b",
  ]);
});

test("an exit code beside another cause follows it", () => {
  const task = { ...FAILED, executionInfo: { ...FAILED.executionInfo, failureInfo: { code: "TaskEnded" } } };
  assert.match(causeText(task), /^Terminated externally or by its time limit; exit code 137/);
});

test("a task that didn't fail has no cause", () => {
  assert.equal(causeText({ ...FAILED, executionInfo: { result: "success", exitCode: 0 } }), "");
  assert.equal(causeText({ id: "a", state: "active" }), "");
});

test("attempts say how often a task may be retried", () => {
  const run = { retryCount: 2, requeueCount: 1 };
  const text = (maxTaskRetryCount: number) =>
    attemptsText({ id: "a", state: "running", executionInfo: run, constraints: { maxTaskRetryCount } });
  assert.equal(text(3), "Retried 2 of at most 3 times, requeued 1 time");
  assert.equal(text(-1), "Retried 2 of any number of times, requeued 1 time");
  assert.equal(attemptsText({ id: "a", state: "running", executionInfo: { retryCount: 0 } }), "");
});

test("only a task that ran once shows how long it waited", () => {
  const task = { id: "a", state: "running", creationTime: "2026-11-30T21:00:00Z" };
  const startTime = "2026-11-30T21:02:00Z";
  assert.equal(waitedText({ ...task, executionInfo: { startTime } }), ", after 2 min of waiting");
  assert.equal(waitedText({ ...task, executionInfo: { startTime, retryCount: 1 } }), "");
  assert.equal(waitedText({ ...task, executionInfo: { startTime: "2026-11-30T20:59:00Z" } }), "");
});
