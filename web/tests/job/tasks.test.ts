import assert from "node:assert/strict";
import { test } from "node:test";
import { batchTerms, causeLabel } from "../../src/job/tasks/cause.ts";
import { maxTasks, rowsOfCsv, tasksQuery } from "../../src/job/tasks/query.ts";
import { rangeChips } from "../../src/job/tasks/rangeChips.ts";
import { NO_TASK_FILTERS } from "../../src/routing/jobView.ts";
import { parametersOf } from "../address.ts";

const COUNTS = { active: 5, preparing: 1, running: 4, completed: 90, succeeded: 80, failed: 10, total: 100 };

test("a page of tasks is requested without empty filters", () => {
  assert.deepEqual(parametersOf(tasksQuery(NO_TASK_FILTERS, "json")), { maxpagesize: "25" });
});

test("a result is requested as a result, and any other choice as a state", () => {
  assert.equal(parametersOf(tasksQuery({ ...NO_TASK_FILTERS, show: "failed" }, "json")).result, "failure");
  assert.equal(parametersOf(tasksQuery({ ...NO_TASK_FILTERS, show: "succeeded" }, "json")).result, "success");
  assert.equal(parametersOf(tasksQuery({ ...NO_TASK_FILTERS, show: "running" }, "json")).state, "running");
});

test("a CSV table has the filters of the page, and the most rows that one response may have", () => {
  const filters = { ...NO_TASK_FILTERS, prefix: "a b", exitCode: "-9", orderby: "runTime desc" };
  assert.deepEqual(parametersOf(tasksQuery(filters, "csv")), {
    format: "csv",
    maxpagesize: "25000",
    prefix: "a b",
    exitCode: "-9",
    orderby: "runTime desc",
  });
});

test("a CSV table that the server must sort has fewer rows", () => {
  for (const orderby of ["", "id", "id desc"]) assert.equal(rowsOfCsv({ orderby }), 100_000, orderby);
  for (const orderby of ["runTime", "startTime desc"]) assert.equal(rowsOfCsv({ orderby }), 25_000, orderby);
});

test("the number of tasks that pass is exact for a state alone", () => {
  assert.deepEqual(maxTasks(NO_TASK_FILTERS, COUNTS), { max: 100, isExact: true });
  assert.deepEqual(maxTasks({ ...NO_TASK_FILTERS, show: "failed" }, COUNTS), { max: 10, isExact: true });
  assert.deepEqual(maxTasks({ ...NO_TASK_FILTERS, show: "failed", nodeId: "n" }, COUNTS), { max: 10, isExact: false });
  assert.deepEqual(maxTasks({ ...NO_TASK_FILTERS, orderby: "id desc" }, COUNTS), { max: 100, isExact: true });
});

test("filters that only links set are chips in words, each with the change that removes it", () => {
  const filters = {
    ...NO_TASK_FILTERS,
    slots: "4",
    startedFrom: "2026-11-30T21:02:10.000Z",
    startedTo: "2026-11-30T22:02:09.999Z",
    runTimeTo: "PT90.5S",
  };
  assert.deepEqual(rangeChips(filters), [
    { text: "Task slots: 4", without: { slots: "" } },
    {
      text: "Started from 2026-11-30 21:02:10 to 2026-11-30 22:02:09.999 UTC",
      without: { startedFrom: "", startedTo: "" },
    },
    { text: "Run time to 90.5 s", without: { runTimeFrom: "", runTimeTo: "" } },
  ]);
  assert.deepEqual(rangeChips(NO_TASK_FILTERS), []);
  const odd = { ...NO_TASK_FILTERS, startedFrom: "a\u202e", runTimeFrom: "P1D" };
  assert.deepEqual(
    rangeChips(odd).map(({ text }) => text),
    ["Started from a\ufffd", "Run time from P1D"],
  );
});

test("an unknown state in the address counts as all", () => {
  assert.equal(maxTasks({ ...NO_TASK_FILTERS, show: "toString" }, COUNTS).max, 100);
});

test("a task that exited is labelled by its exit code", () => {
  assert.equal(causeLabel({ category: "userError", code: "FailureExitCode", exitCode: 137 }), "Exit code 137");
  assert.equal(causeLabel({ category: null, code: null, exitCode: 0 }), "Exit code 0");
});

test("known codes have labels of their own, others are spelled as words", () => {
  assert.equal(
    causeLabel({ category: "userError", code: "CommandProgramNotFound", exitCode: null }),
    "The command's program wasn't found",
  );
  assert.equal(causeLabel({ category: "serverError", code: "DiskFull", exitCode: null }), "Disk full");
  assert.equal(causeLabel({ category: "a\u202e", code: null, exitCode: null }), "Failure of category a\ufffd");
  assert.equal(causeLabel({ category: null, code: null, exitCode: null }), "Failed; no cause reported");
});

test("an exit code is listed beside the cause if it isn't the cause", () => {
  assert.equal(
    batchTerms({ category: "userError", code: "TaskEnded", exitCode: -1 }),
    "userError · TaskEnded · exit code -1",
  );
  assert.equal(
    batchTerms({ category: "userError", code: "FailureExitCode", exitCode: 1 }),
    "userError · FailureExitCode",
  );
  assert.equal(batchTerms({ category: null, code: null, exitCode: null }), "");
});
