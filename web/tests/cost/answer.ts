// Costs in the API's shape, for tests.

import type { AccountCost, CostGroup, CostSum } from "../../src/cost/amounts/model.ts";

/** A sum of amounts by class, where an hour of a node costs 1. */
export function sum(amounts: Record<string, number>, change: Partial<CostSum> = {}): CostSum {
  const nodeSeconds = Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, amount * 3600]));
  const amount = Object.values(amounts).reduce((total, each) => total + each, 0);
  const none = { wastedAmount: 0, sharedAmount: 0, uncertainAmount: 0, unpricedSeconds: 0, coreSeconds: 0, busyCoreSeconds: 0 };
  return { amount, ...none, amounts, nodeSeconds, ...change };
}

function step(date: string, cost: CostSum) {
  return { from: `${date}T00:00:00Z`, to: `${date}T24:00:00Z`, cost };
}

/** A group with its costs by day. */
export function group(name: string, days: Record<string, CostSum>): CostGroup {
  const total = Object.values(days).reduce((all, each) => all + (each.amount ?? 0), 0);
  return { name, cost: sum({ succeeded: total }), steps: Object.entries(days).map(([day, cost]) => step(day, cost)) };
}

/** The costs of four days, 26 to 29 November. */
export function answer(days: Record<string, CostSum>, value: CostGroup[], change: Partial<AccountCost> = {}): AccountCost {
  return {
    account: "demo",
    currency: "USD",
    asOf: "2026-11-29T12:00:00Z",
    from: "2026-11-26T00:00:00Z",
    to: "2026-11-30T00:00:00Z",
    groupBy: "pool",
    step: "P1D",
    cost: sum({}),
    steps: Object.entries(days).map(([day, cost]) => step(day, cost)),
    value,
    unpriced: [],
    missingDays: [],
    labels: [],
    ...change,
  };
}
