import assert from "node:assert/strict";
import { test } from "node:test";
import { agreementText, errorTexts, type FormulaWhatIf, queryOf, rowsOf, type Scaling } from "../../src/pool/whatif/formulaWhatIf.ts";

const SCALING: Scaling = {
  nodeSeconds: { expected: 7200, low: 3600, high: 10_800 },
  cost: null,
  meanWaitSeconds: { expected: 100, low: 90, high: 120 },
  longestWaitSeconds: 600,
  tasks: 7,
  unfinishedTasks: 0,
  lostRuns: 0,
  evaluations: 0,
  failed: 0,
  error: null,
  targets: [{ dedicated: 2, spot: 1 }],
};

const FOUND: FormulaWhatIf = {
  currency: "USD",
  noPrice: "No price.",
  seen: { nodeSeconds: 3600, cost: null, meanWaitSeconds: null },
  ownFormula: null,
  asItWas: SCALING,
  asked: SCALING,
  assumptions: [],
  reason: null,
};

test("a query has the formula without comments and indentation, and the interval", () => {
  assert.equal(queryOf(" // nothing\n", " "), "");
  assert.equal(queryOf("a = 1; // one\n  /* two\n */ b = 2", "15"), "?formula=a+%3D+1%3B%0Ab+%3D+2&interval=PT15M");
});

test("a formula that is too long stays too long, so that no part of it is replayed", () => {
  const formula = new URLSearchParams(queryOf("a=1;".repeat(2000), "")).get("formula");
  assert.equal(formula?.length, 4001);
});

test("rows have what was seen and both replays, also without a price or an evaluation", () => {
  const rows = rowsOf(FOUND, SCALING, { ...SCALING, evaluations: 9, failed: 2 });
  assert.deepEqual(rows[1], ["Cost", "no price", "no price", "no price"]);
  assert.deepEqual(rows[2], ["Mean wait of tasks", "no tasks", ...Array(2).fill("1 min 40 s (1 min 30 s to 2 min)")]);
  assert.deepEqual(rows[4], ["Highest target", "", "3 nodes", "3 nodes"]);
  assert.deepEqual(rows[5], ["Evaluations", "", "recorded targets", "9, 2 failed"]);
});

test("the share of recorded targets that the own formula gives is named", () => {
  const own = { evaluations: 12, equal: 12, meanDifference: 0, failed: 0, error: null };
  assert.equal(agreementText(own), "The pool's own formula gives 12 of 12 recorded targets");
  const other = agreementText({ ...own, equal: 9, meanDifference: 0.51 });
  assert.equal(other, "The pool's own formula gives 9 of 12 recorded targets; the others differ, by 0.5 nodes in the mean of all");
  assert.match(agreementText({ ...own, evaluations: 0, equal: 0 }), /^No target/);
});

test("errors name their replay, and those on recorded samples where they are others", () => {
  const own = { evaluations: 12, equal: 12, meanDifference: 0, failed: 1, error: "One." };
  const failing = { ...SCALING, failed: 1, error: "One." };
  assert.deepEqual(errorTexts(FOUND), []);
  assert.deepEqual(errorTexts({ ...FOUND, ownFormula: own }), ["On recorded samples: One."]);
  assert.deepEqual(errorTexts({ ...FOUND, ownFormula: own, asItWas: failing }), ["As it was: One."]);
  const both = { ...FOUND, asItWas: failing, asked: { ...failing, error: "Two." } };
  assert.deepEqual(errorTexts(both), ["As it was: One.", "As asked: Two."]);
});
