import assert from "node:assert/strict";
import { test } from "node:test";
import type { Comparison, Contrast } from "../../src/job/comparison/model.ts";
import { chanceText, comparedText, filtersOf, listedText, resultText, triedText } from "../../src/job/comparison/texts.ts";

const CONTRAST: Contrast = {
  attribute: "node",
  title: "On node 'n3' of pool 'gpu'",
  failed: 9,
  succeeded: 1,
  failedShare: 0.9,
  succeededShare: 0.01,
  pValue: 0.0004,
  taskFilter: { poolId: "gpu", nodeId: "n3" },
  tasks: ["t1"],
  sameTasks: [],
};
const COMPARISON: Comparison = {
  asOf: null,
  result: "apart",
  failed: 10,
  succeeded: 100,
  comparedFailed: 10,
  comparedSucceeded: 100,
  attributes: ["node", "vmSize", "runTime", "idPart2"],
  triedGroups: 1876,
  level: 0.02,
  contrasts: [CONTRAST],
  consequences: [],
  findings: [],
};

test("a group that the task list can filter is shown by its failed tasks", () => {
  assert.deepEqual(filtersOf(CONTRAST), { show: "failed", poolId: "gpu", nodeId: "n3" });
});

test("a group without such a filter, or with one that the page doesn't have, isn't linked", () => {
  assert.equal(filtersOf({ ...CONTRAST, taskFilter: {} }), null);
  assert.equal(filtersOf({ ...CONTRAST, taskFilter: { poolId: "gpu", vmSize: "x" } }), null);
});

test("groups by start, slots and run time are shown by the filters of the list", () => {
  const taskFilter = { startedFrom: "2026-11-30T21:02:10.000Z", startedTo: "2026-11-30T22:02:09.999Z" };
  assert.deepEqual(filtersOf({ ...CONTRAST, taskFilter }), { show: "failed", ...taskFilter });
  assert.deepEqual(filtersOf({ ...CONTRAST, taskFilter: { slots: "4" } }), { show: "failed", slots: "4" });
});

test("a list of failed tasks says whether it has all of them", () => {
  assert.equal(listedText({ ...CONTRAST, failed: 1 }), "The failed tasks:");
  assert.equal(listedText({ ...CONTRAST, failed: 1312 }), "The first 1 of 1,312 failed tasks by id:");
});

test("each result without groups has a sentence", () => {
  assert.equal(resultText(COMPARISON), "");
  for (const result of ["nothing", "noneFailed", "allFailed", "tooFew"] as const)
    assert.match(resultText({ ...COMPARISON, result }), /^[A-Z].*\.$/);
});

test("the attributes are listed with the number of groups that were tried", () => {
  assert.equal(triedText(COMPARISON), "Compared by node, VM size, run time and part 2 of the id; 1,876 groups tried.");
  assert.equal(triedText({ ...COMPARISON, attributes: ["node"] }), "Compared by node; 1,876 groups tried.");
  assert.equal(triedText({ ...COMPARISON, attributes: [] }), "");
});

test("a sample is named as one", () => {
  assert.equal(comparedText(COMPARISON), "10 failed and 100 succeeded tasks");
  assert.equal(
    comparedText({ ...COMPARISON, succeeded: 90_000, comparedSucceeded: 25_000 }),
    "a sample of 10 failed and 25,000 succeeded tasks",
  );
});

test("a tiny chance isn't shown as none", () => {
  assert.equal(chanceText(CONTRAST), "chance < 0.001");
  assert.equal(chanceText({ ...CONTRAST, pValue: 0.0151 }), "chance 0.015");
});
