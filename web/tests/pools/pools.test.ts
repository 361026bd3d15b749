import assert from "node:assert/strict";
import { test } from "node:test";
import type { Account } from "../../src/api/model.ts";
import type { Pool, ResizeError } from "../../src/pool/model.ts";
import { hasProblems, ORDERS, problemsOf, sortedPools, unmonitoredAccounts } from "../../src/pool/problems.ts";
import { addressOfPools, NO_POOL_FILTERS, passes, readPoolFilters } from "../../src/pools/filters.ts";
import { goTo } from "../address.ts";

const NONE = new Set<string>();

function pool(change: Partial<Pool>): Pool {
  return {
    id: "gpu",
    account: "scope",
    state: "active",
    allocationState: "steady",
    dedicated: { current: 0, target: 0 },
    spot: { current: 0, target: 0 },
    nodeCounts: {},
    cores: null,
    slots: null,
    flappingNodes: null,
    resizeErrors: [],
    settingsLeftOut: [],
    settingChanges: [],
    settingChangesLeftOut: 0,
    retirements: [],
    autoScale: null,
    verdict: { level: "exact", reason: "" },
    ...change,
  } as Pool;
}

function resizeError(change: Partial<ResizeError>): ResizeError {
  const times = { time: null, firstSeen: "2026-11-20T00:00:00Z", lastSeen: "2026-11-21T00:00:00Z" };
  return { code: "AccountCoreQuotaReached", message: "Quota.", current: true, attempts: 1, ...times, ...change };
}

function texts(found: Pool): string[] {
  return problemsOf(found).map(({ text }) => text);
}

test("a healthy pool has no problems", () => {
  assert.deepEqual(problemsOf(pool({ nodeCounts: { idle: 3, unusable: 0 } })), []);
  assert.deepEqual(problemsOf(pool({ nodeCounts: null })), []);
});

test("current problems come before errors of earlier resizes", () => {
  const found = pool({
    resizeErrors: [resizeError({ code: "Old", current: false }), resizeError({ attempts: 3 })],
    nodeCounts: { unusable: 1, unknown: 2 },
    flappingNodes: 2,
  });
  assert.deepEqual(texts(found), [
    "Resize failed 3 times: AccountCoreQuotaReached",
    "1 node unusable",
    "Lost contact with 2 nodes",
    "2 nodes flapping",
    "Earlier resize failed: Old",
  ]);
});

test("an earlier failure alone isn't a current problem", () => {
  assert.ok(!hasProblems(pool({ resizeErrors: [resizeError({ current: false })] }), NONE));
  assert.ok(hasProblems(pool({ resizeErrors: [resizeError({})] }), NONE));
});

test("stale data is a problem only while the account is monitored", () => {
  const stale = pool({ verdict: { level: "stale", reason: "Not polled." } as Pool["verdict"] });
  assert.ok(hasProblems(stale, NONE));
  assert.ok(
    !hasProblems(
      stale,
      unmonitoredAccounts([
        { id: "scope", enabled: false },
        { id: "b", enabled: true },
      ] as Account[]),
    ),
  );
});

test("pools with most problems come first, and others by their id", () => {
  const pools = [pool({ id: "c" }), pool({ id: "b", nodeCounts: { unusable: 1 } }), pool({ id: "a" })];
  assert.deepEqual(
    sortedPools(pools, "problems", NONE).map(({ id }) => id),
    ["b", "a", "c"],
  );
});

test("unknown numbers come after zeros", () => {
  const pools = [
    pool({ id: "unknown" }),
    pool({ id: "zero", cores: { total: 8, busy: 0 }, slots: { total: 8, used: 0, free: 8 } }),
    pool({ id: "some", cores: { total: 8, busy: 0.5 }, slots: { total: 8, used: 1, free: 7 } }),
  ];
  for (const order of ["cores", "slots"] as const) {
    assert.deepEqual(
      sortedPools(pools, order, NONE).map(({ id }) => id),
      ["some", "zero", "unknown"],
      order,
    );
  }
});

test("the order by id is ascending, that by nodes descending, and sorting leaves its input unchanged", () => {
  const pools = [pool({ id: "b", spot: { current: 2, target: null } }), pool({ id: "a" })];
  assert.deepEqual(
    sortedPools(pools, "id", NONE).map(({ id }) => id),
    ["a", "b"],
  );
  assert.deepEqual(
    sortedPools(pools, "nodes", NONE).map(({ id }) => id),
    ["b", "a"],
  );
  assert.deepEqual(
    pools.map(({ id }) => id),
    ["b", "a"],
  );
});

test("filters and orders survive the address, which omits the default order", () => {
  for (const order of ORDERS) {
    const filters = { account: "a", state: "active", allocationState: "steady", problems: "yes", prefix: "ü&", order };
    goTo(addressOfPools(filters));
    assert.deepEqual(readPoolFilters(), filters);
  }
  assert.equal(addressOfPools(NO_POOL_FILTERS), "?view=pools");
});

test("an unknown order counts as the default", () => {
  goTo("?view=pools&order=size");
  assert.equal(readPoolFilters().order, "problems");
});

test("a pool has to pass every filter", () => {
  assert.ok(passes(pool({}), NO_POOL_FILTERS, NONE));
  assert.ok(passes(pool({}), { ...NO_POOL_FILTERS, prefix: "GP" }, NONE));
  assert.ok(!passes(pool({}), { ...NO_POOL_FILTERS, allocationState: "resizing" }, NONE));
  assert.ok(!passes(pool({}), { ...NO_POOL_FILTERS, problems: "yes" }, NONE));
});

const JAMMY = {
  id: "jammy",
  what: "Ubuntu 22.04",
  lastDay: "2027-06-30",
  effect: "No nodes.",
  instead: "Ubuntu 24.04.",
  source: "https://example.org/",
  readOn: "2026-11-23",
};

test("a retirement is a problem once a lead time of its finding has begun", () => {
  const problems = (daysLeft: number | null, leadDays: number | null = 180) =>
    texts(pool({ retirements: [{ ...JAMMY, daysLeft, leadDays, finding: "It ends." }] }));
  assert.deepEqual(problems(181, null), []);
  assert.deepEqual(problems(null, null), []);
  assert.deepEqual(problems(180), ["Retired in 180 days: Ubuntu 22.04"]);
  assert.deepEqual(problems(1), ["Retired in 1 day: Ubuntu 22.04"]);
  assert.deepEqual(problems(0), ["Retired today: Ubuntu 22.04"]);
  assert.deepEqual(problems(-3), ["Retired 3 days ago: Ubuntu 22.04"]);
});
