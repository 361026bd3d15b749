// Used shares and waste of groups by week.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AccountEfficiency, EfficiencySums } from "../../src/cost/efficiency/model.ts";
import { firstWeekAt, knownResources, latestWeek, maxWasted, weekReadout, weeksOf } from "../../src/cost/efficiency/weeks.ts";

const FIRST = Date.parse("2026-11-09T00:00:00Z");
const WEEK = 7 * 86_400_000;

function sums(changes: Partial<EfficiencySums> = {}): EfficiencySums {
  const usedShares = { cpu: 0.25, memory: null, gpu: null };
  return { jobs: 1, measuredRuns: 40, amount: 20, wastedAmount: 5, usedShares, ...changes };
}

function step(week: number, changes: Partial<EfficiencySums> = {}) {
  const from = new Date(FIRST + week * WEEK).toISOString();
  return { from, to: new Date(FIRST + (week + 1) * WEEK).toISOString(), sums: sums(changes) };
}

function answer(): AccountEfficiency {
  const value = [
    { name: "render-", sums: sums(), steps: [step(1), step(3, { wastedAmount: 2.5 })] },
    { name: "try-", sums: sums(), steps: [step(3, { wastedAmount: null, usedShares: { cpu: null, memory: 0.5, gpu: null } })] },
    { name: "idle-", sums: sums({ measuredRuns: 0 }), steps: [step(0)] },
  ];
  const to = new Date(FIRST + 3 * WEEK + 2 * 86_400_000).toISOString();
  return { account: "demo", currency: "USD", from: new Date(FIRST).toISOString(), to, value, savings: [] };
}

test("weeks begin with the first one with measured runs, and the last one may be shorter", () => {
  const { weeks, groups } = weeksOf(answer(), "pool", "cpu");
  assert.deepEqual(
    weeks.map(({ first, last }) => [first.slice(0, 10), last.slice(0, 10)]),
    [
      ["2026-11-16", "2026-11-22"],
      ["2026-11-23", "2026-11-29"],
      ["2026-11-30", "2026-12-01"],
    ],
  );
  assert.deepEqual(
    groups.map(({ label, fill, shares, wasted }) => [label, fill, shares, wasted]),
    [
      ["render-…", "group-0", [0.25, null, 0.25], [5e6, null, 2.5e6]],
      ["try-…", "group-1", [null, null, null], [null, null, null]],
    ],
  );
});

test("a week in words has each group's share and waste", () => {
  const weekly = weeksOf(answer(), "pool", "memory");
  assert.equal(
    weekReadout(weekly, 2, "USD"),
    "30 Nov to 1 Dec: render-… used –, wasted $2.50; try-… used 50%, wasted –",
  );
  assert.equal(weekReadout(weekly, 9, "USD"), "");
  assert.equal(maxWasted(weekly), 5e6);
});

test("the week to begin with is the last one with a share, else the last one", () => {
  const shares = (groups: (number | null)[][]) => ({
    weeks: weeksOf(answer(), "pool", "cpu").weeks,
    groups: groups.map((each) => ({ label: "", fill: "group-0", shares: each, wasted: [] })),
  });
  assert.equal(latestWeek(shares([[0.25, null, null], [null, 0.5, null]])), 1);
  assert.equal(latestWeek(shares([[null, null, null]])), 2);
});

test("only resources with a known share can be chosen", () => {
  assert.deepEqual(knownResources(answer()), ["cpu", "memory"]);
});

test("the twelve weeks end with the day of a time", () => {
  assert.equal(firstWeekAt(Date.parse("2026-11-30T18:00:00Z")), "2026-09-08T00:00:00.000Z");
});
