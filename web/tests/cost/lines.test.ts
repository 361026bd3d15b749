// Sentences about the cost of one job and one pool, and the totals of lists.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobCost, PoolCost } from "../../src/cost/lines/model.ts";
import { jobCostText, poolCostText, totalDetails } from "../../src/cost/lines/texts.ts";
import { accountsOf, pathOfTotals, totalOf, totalsOf } from "../../src/cost/lines/totals.ts";
import { answer, group, sum } from "./answer.ts";

const JOB: JobCost = {
  currency: "USD",
  asOf: "2026-11-29T12:00:00Z",
  cost: sum({ succeeded: 12 }),
  missingDays: [],
  task: null,
  forecast: null,
};
const POOL: PoolCost = {
  currency: "USD",
  asOf: "2026-11-29T12:00:00Z",
  nodeSeconds: { dedicated: { running: 36_000, idle: 18_000, starting: 1800 }, spot: { startTask: 1800, unwatched: 3600 } },
  billedSeconds: { dedicated: 55_800, spot: 1800 },
  amount: 12,
  unpricedSeconds: 1800,
};

test("a job's line has its waste, its share and what isn't known, and no more where there is nothing", () => {
  assert.equal(jobCostText(JOB), "Cost so far $12.00.");
  const cost = sum({ succeeded: 12 }, { wastedAmount: 3, sharedAmount: 1, uncertainAmount: 2, unpricedSeconds: 7200 });
  assert.equal(
    jobCostText({ ...JOB, cost }),
    "Cost so far $12.00: $3.00 wasted, $1.00 as its share of time that no task held, " +
      "up to $2.00 more, not watched, 2 h of nodes without a price.",
  );
  assert.equal(
    jobCostText({
      ...JOB,
      cost: { ...sum({}), amount: null, wastedAmount: null, sharedAmount: null, uncertainAmount: null, unpricedSeconds: 3600 },
    }),
    "Cost so far isn't known: 1 h of nodes without a price.",
  );
  assert.equal(
    jobCostText({ ...JOB, missingDays: ["2026-11-27", "2026-11-28"] }),
    "Cost so far $12.00. No usage is stored for 2 days: 27 Nov to 28 Nov.",
  );
});

test("a job's line has the cost of a task, and the forecast with its band", () => {
  const task = { mean: 0.5, p50: 0.4, p95: 2 };
  const forecast = { amount: 20, low: 18, high: 30, tasksLeft: 1200 };
  assert.equal(
    jobCostText({ ...JOB, task, forecast }),
    "Cost so far $12.00. A completed task held $0.50 on average, 95% of them at most $2.00. " +
      "With the 1,200 tasks left, its tasks will have held about $20.00, $18.00 to $30.00.",
  );
  assert.match(jobCostText({ ...JOB, task, forecast: { ...forecast, tasksLeft: 1 } }), /With the task left, its/);
});

test("a pool's line says what its nodes did today", () => {
  assert.equal(
    poolCostText(POOL),
    "Today (UTC) $12.00 for 16 h of nodes: 5 h idle, 1 h starting, 1 h not watched and not counted, 0.5 h without a price.",
  );
  const billedSeconds = { dedicated: 0, spot: 0 };
  assert.equal(
    poolCostText({ ...POOL, billedSeconds, nodeSeconds: { dedicated: {}, spot: { preempted: 60 } } }),
    "Today (UTC) no node of the pool cost anything.",
  );
  assert.equal(
    poolCostText({ ...POOL, billedSeconds, nodeSeconds: { dedicated: { unwatched: 3600 }, spot: {} } }),
    "Today (UTC) the cost isn't known: nobody watched its nodes for 1 h.",
  );
});

test("totals are of thirty days with today in one step, and found by ids of any case", () => {
  assert.equal(
    pathOfTotals("a/b", "job", Date.parse("2026-11-30T05:00:00Z")),
    "/api/accounts/a%2Fb/cost?from=2026-11-01T00%3A00%3A00Z&groupBy=job&step=P30D",
  );
  const totals = totalsOf([answer({}, [group("Render", { "2026-11-29": sum({ succeeded: 2 }) })])]);
  assert.equal(totalOf(totals, "demo", "RENDER")?.cost.amount, 2);
  assert.equal(totalOf(totals, "demo", "other"), undefined);
  assert.equal(totalOf(totals, "other", "render"), undefined);
  assert.deepEqual(accountsOf([{ account: "b" }, { account: "a" }, { account: "b" }]), ["a", "b"]);
});

test("a total's details name waste and doubts", () => {
  const cost = sum({ succeeded: 12 }, { wastedAmount: 3, unpricedSeconds: 7200 });
  assert.equal(
    totalDetails({ currency: "USD", cost }),
    "30 days with today, in UTC: $3.00 wasted; 2 h of nodes without a price",
  );
  assert.equal(totalDetails({ currency: "USD", cost: sum({ succeeded: 1 }) }), "30 days with today, in UTC");
});
