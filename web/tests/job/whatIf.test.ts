import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_DRAFT, noPriceTexts, queryOf, replayedText, rowsOf, type Scenario, scenarioText } from "../../src/job/efficiency/whatIf.ts";

const SCENARIO: Scenario = {
  nodes: 1,
  slotsPerNode: 4,
  vmSize: "standard_d4s_v5",
  spot: true,
  seconds: { expected: 100, low: 90, high: 120 },
  nodeSeconds: { expected: 7200, low: 3600, high: 10_800 },
  cost: null,
  noPrice: "No price.",
  waste: null,
};

test("a query has the settings that differ", () => {
  assert.equal(queryOf(NO_DRAFT), "");
  assert.equal(queryOf({ ...NO_DRAFT, slots: "4", spot: "true", vmSize: " Standard_D8s_v5 " }), "?slots=4&vmSize=Standard_D8s_v5&spot=true");
});

test("a scenario is described in words", () => {
  assert.equal(scenarioText(SCENARIO), "1 spot node of standard_d4s_v5, 4 slots each");
  assert.equal(scenarioText({ ...SCENARIO, nodes: 2, slotsPerNode: 1, spot: null }), "2 nodes of standard_d4s_v5, 1 slot each");
});

test("rows have both replays, also without an end or a price", () => {
  const [duration, , cost] = rowsOf(SCENARIO, { ...SCENARIO, seconds: null }, "USD");
  assert.deepEqual(duration, ["Duration", "1 min 40 s (1 min 30 s to 2 min)", "no end"]);
  assert.deepEqual(cost, ["Cost", "no price", "no price"]);
});

test("the reason of a missing price names its replay, unless it is that of both", () => {
  const priced = { ...SCENARIO, noPrice: null };
  assert.deepEqual(noPriceTexts(SCENARIO, SCENARIO), ["No price."]);
  assert.deepEqual(noPriceTexts(SCENARIO, priced), ["As it was: No price."]);
  assert.deepEqual(noPriceTexts(priced, SCENARIO), ["As asked: No price."]);
  assert.deepEqual(noPriceTexts(SCENARIO, { ...SCENARIO, noPrice: "Other." }), ["As it was: No price.", "As asked: Other."]);
  assert.deepEqual(noPriceTexts(priced, priced), []);
  assert.deepEqual(noPriceTexts(null, null), []);
});

test("a sample is named as one, with the number of measured runs", () => {
  const found = { tasks: 9000, replayedTasks: 4000, measuredRuns: 1, seconds: 60, currency: "USD", asItWas: null, asked: null };
  const all = { ...found, assumptions: [], reason: null };
  assert.equal(replayedText(all), "9,000 tasks, a sample of 4,000 replayed, 1 run measured; the job took 1 min");
  const none = { ...all, replayedTasks: 9000, measuredRuns: 0 };
  assert.equal(replayedText(none), "9,000 tasks, replayed one by one, no run measured; the job took 1 min");
});
