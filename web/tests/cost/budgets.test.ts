// Budgets in words, and the line of the chart.

import assert from "node:assert/strict";
import { test } from "node:test";
import { dailyBudget, scopeText, spentText, stateText } from "../../src/cost/amounts/budgets.ts";
import type { Budget } from "../../src/cost/amounts/model.ts";

const FORECAST = { amount: 900, low: 800, high: 1000, days: 7 };
const BUDGET: Budget = {
  name: "all",
  scope: "account",
  target: null,
  amount: 600,
  currency: "USD",
  state: "within",
  spent: 120,
  forecast: { ...FORECAST, amount: 300 },
  exceededOn: null,
  unpricedSeconds: 0,
  reason: null,
};

test("a budget says for what it is and what is spent of it", () => {
  assert.equal(scopeText(BUDGET), "the account");
  assert.equal(scopeText({ ...BUDGET, scope: "pool", target: "gpu" }), "pool gpu");
  assert.equal(spentText(BUDGET), "$120.00 of $600.00 spent this month, 20%");
  assert.equal(spentText({ ...BUDGET, spent: null }), "$600.00");
});

test("each state is a sentence with the forecast, the day, and what isn't known", () => {
  assert.equal(stateText(BUDGET), "Within the budget: about $300.00 at the month's end.");
  assert.equal(
    stateText({ ...BUDGET, forecast: null, unpricedSeconds: 5 }),
    "Within the budget so far; a forecast needs three full days. Some of its nodes have no price, so it may be more.",
  );
  assert.equal(
    stateText({ ...BUDGET, state: "willExceed", forecast: FORECAST, exceededOn: "2026-11-29" }),
    "Will be exceeded on 29 Nov: about $900.00 at the month's end.",
  );
  assert.equal(
    stateText({ ...BUDGET, state: "exceeded", forecast: FORECAST, exceededOn: "2026-11-12" }),
    "Exceeded on 12 Nov; about $900.00 at the month's end.",
  );
  assert.equal(stateText({ ...BUDGET, state: "unknown", reason: "Prices are in EUR." }), "Prices are in EUR.");
  assert.equal(stateText({ ...BUDGET, reason: "No usage of a pool 'x' is stored." }), "No usage of a pool 'x' is stored.");
});

test("the line is the smallest budget of the account over the days of the month", () => {
  const now = Date.parse("2026-11-30T23:00:00Z");
  assert.equal(dailyBudget([BUDGET, { ...BUDGET, amount: 900 }], "USD", now), 20_000_000);
  assert.equal(dailyBudget([BUDGET], "USD", Date.parse("2026-02-01T00:00:00Z")), 600_000_000 / 28);
  assert.equal(dailyBudget([BUDGET], "EUR", now), null);
  assert.equal(dailyBudget([{ ...BUDGET, scope: "pool", target: "gpu" }], "USD", now), null);
});
