import assert from "node:assert/strict";
import { test } from "node:test";
import type { Phase, StartUp } from "../../src/pool/startup/model.ts";
import { quantilesText, spanText, summaryText, unknownText } from "../../src/pool/startup/texts.ts";

const TOTAL: Phase = { phase: "total", nodes: 40, p50Seconds: 197.5, p95Seconds: 300, unknown: [] };
const START_UP: StartUp = {
  asOf: null,
  nodes: 50,
  limited: false,
  phases: [TOTAL],
  byDay: [],
  bySize: [],
  byImage: [],
  medianTaskSeconds: 5,
  preparationTasks: null,
  findings: [],
};

test("the summary has both quantiles of the whole way, and how long tasks run", () => {
  assert.equal(
    summaryText(START_UP),
    "Half of 40 nodes took at most 3 min 18 s from the wish for them to their first task, 95% at most 5 min. " +
      "Half of the tasks ran at most 5 s.",
  );
  assert.equal(
    summaryText({ ...START_UP, phases: [{ ...TOTAL, nodes: 0, p50Seconds: null, p95Seconds: null }], medianTaskSeconds: null }),
    "50 nodes started; for none the whole way from the wish to the first task is known.",
  );
  assert.match(summaryText({ ...START_UP, limited: true }), /only the first 10,000 nodes count\.$/);
});

test("an unknown span is a dash and never 0", () => {
  assert.deepEqual([spanText(null), spanText(0), spanText(75)], ["–", "0 s", "1 min 15 s"]);
  assert.equal(quantilesText(TOTAL), "3 min 18 s / 5 min");
  assert.equal(quantilesText({ ...TOTAL, p50Seconds: null, p95Seconds: null }), "–");
});

test("a reason names how many nodes it concerns", () => {
  assert.equal(unknownText(3, 50, "The start task failed."), "3 of 50 nodes: The start task failed.");
});
