import assert from "node:assert/strict";
import { test } from "node:test";
import { termsOf, wordsOf } from "../../src/job/tasks/cause.ts";
import { rowsOfCsv, tasksOf, tasksQuery } from "../../src/job/tasks/query.ts";
import { NO_TASK_FILTERS } from "../../src/routing/jobView.ts";
import { parametersOf } from "../address.ts";

const COUNTS = { active: 5, preparing: 1, running: 4, completed: 90, succeeded: 80, failed: 10, total: 100 };

test("a page of tasks is asked for without filters that are empty", () => {
  assert.deepEqual(parametersOf(tasksQuery(NO_TASK_FILTERS, "json")), { maxpagesize: "25" });
});

test("a result is asked for as a result, and any other choice as a state", () => {
  assert.equal(parametersOf(tasksQuery({ ...NO_TASK_FILTERS, show: "failed" }, "json")).result, "failure");
  assert.equal(parametersOf(tasksQuery({ ...NO_TASK_FILTERS, show: "succeeded" }, "json")).result, "success");
  assert.equal(parametersOf(tasksQuery({ ...NO_TASK_FILTERS, show: "running" }, "json")).state, "running");
});

test("a table has the filters of the page, and as many rows as one answer may have", () => {
  const filters = { ...NO_TASK_FILTERS, prefix: "a b", exitCode: "-9", orderby: "runTime desc" };
  assert.deepEqual(parametersOf(tasksQuery(filters, "csv")), {
    format: "csv",
    maxpagesize: "25000",
    prefix: "a b",
    exitCode: "-9",
    orderby: "runTime desc",
  });
});

test("a table that the server must sort holds fewer rows", () => {
  for (const orderby of ["", "id", "id desc"]) assert.equal(rowsOfCsv({ orderby }), 100_000, orderby);
  for (const orderby of ["runTime", "startTime desc"]) assert.equal(rowsOfCsv({ orderby }), 25_000, orderby);
});

test("how many tasks pass is known of a state alone", () => {
  assert.deepEqual(tasksOf(NO_TASK_FILTERS, COUNTS), { most: 100, known: true });
  assert.deepEqual(tasksOf({ ...NO_TASK_FILTERS, show: "failed" }, COUNTS), { most: 10, known: true });
  assert.deepEqual(tasksOf({ ...NO_TASK_FILTERS, show: "failed", nodeId: "n" }, COUNTS), { most: 10, known: false });
  assert.deepEqual(tasksOf({ ...NO_TASK_FILTERS, orderby: "id desc" }, COUNTS), { most: 100, known: true });
});

test("a choice that is no state, as an address may have it, is taken for all", () => {
  assert.equal(tasksOf({ ...NO_TASK_FILTERS, show: "toString" }, COUNTS).most, 100);
});

test("a task that exited is told by its exit code", () => {
  assert.equal(wordsOf({ category: "userError", code: "FailureExitCode", exitCode: 137 }), "Exit code 137");
  assert.equal(wordsOf({ category: null, code: null, exitCode: 0 }), "Exit code 0");
});

test("known codes have words of their own, others are spoken", () => {
  assert.equal(
    wordsOf({ category: "userError", code: "CommandProgramNotFound", exitCode: null }),
    "The command's program wasn't found",
  );
  assert.equal(wordsOf({ category: "serverError", code: "DiskFull", exitCode: null }), "Disk full");
  assert.equal(wordsOf({ category: "a\u202e", code: null, exitCode: null }), "Failure of category a\ufffd");
  assert.equal(wordsOf({ category: null, code: null, exitCode: null }), "Failed; no cause reported");
});

test("an exit code stands beside the cause where it isn't the cause", () => {
  assert.equal(
    termsOf({ category: "userError", code: "TaskEnded", exitCode: -1 }),
    "userError · TaskEnded · exit code -1",
  );
  assert.equal(termsOf({ category: "userError", code: "FailureExitCode", exitCode: 1 }), "userError · FailureExitCode");
  assert.equal(termsOf({ category: null, code: null, exitCode: null }), "");
});
