// What Azure retires: words, urgency, and one account's part.

import assert from "node:assert/strict";
import { test } from "node:test";
import { daysText, pathOf, poolText, type RetirementEntry, urgencyOf } from "../../src/retirements/model.ts";

const entry = (daysLeft: number | null): RetirementEntry => ({
  id: "jammy",
  what: "Ubuntu 22.04",
  lastDay: daysLeft === null ? null : "2027-06-30",
  daysLeft,
  effect: "No nodes.",
  instead: "Ubuntu 24.04.",
  source: "https://example.org/",
  readOn: "2026-11-23",
  pools: [
    { account: "one", id: "a", nodes: 1, jobs: 0 },
    { account: "two", id: "b", nodes: 2000, jobs: 1200 },
  ],
  unknownPools: 0,
  concernsApp: false,
});

test("days are said from today, and an unknown day is no number", () => {
  const said = [null, 40, 1, 0, -1, -40].map((days) => daysText(entry(days)));
  assert.deepEqual(said, ["no day known", "in 40 days", "in 1 day", "today", "1 day ago", "40 days ago"]);
});

test("an entry becomes urgent by 60 and by 14 days", () => {
  const found = [null, 61, 60, 15, 14, -3].map((days) => urgencyOf(entry(days)));
  assert.deepEqual(found, ["plain", "plain", "warn", "warn", "bad", "bad"]);
});

test("the list is requested for one account, or for all", () => {
  assert.equal(pathOf("", false), "/api/retirements?all=false");
  assert.equal(pathOf("one.west&x=1", true), "/api/retirements?account=one.west%26x%3D1&all=true");
});

test("a pool is said with its nodes and open jobs", () => {
  assert.deepEqual(entry(1).pools.map(poolText), ["1 node, no open job", "2,000 nodes, 1,200 open jobs"]);
});
