import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../src/api/model.ts";
import { addressOf, type Filters, jobsQuery, passes, readFilters } from "../../src/jobs/filters.ts";
import { byUrgency, rankOf } from "../../src/jobs/order.ts";
import { goTo, parametersOf } from "../address.ts";

const EVERY: Filters = { account: "", state: "", poolId: "", prefix: "" };

function job(change: Partial<Job>): Job {
  return {
    id: "a",
    account: "scope",
    state: "active",
    creationTime: null,
    poolId: null,
    deleted: false,
    ...change,
  } as Job;
}

function ids(jobs: Job[]): string[] {
  return jobs.sort(byUrgency).map(({ id }) => id);
}

test("filters survive the address", () => {
  const filters = { account: "a&b", state: "active", poolId: "gpu #1", prefix: "ä +" };
  goTo(addressOf(filters));
  assert.deepEqual(readFilters(), filters);
  assert.equal(addressOf(EVERY), "/");
  goTo("");
  assert.deepEqual(readFilters(), EVERY);
});

test("the API is asked for what it filters by, and not for accounts", () => {
  assert.deepEqual(parametersOf(jobsQuery(EVERY)), { maxpagesize: "500" });
  assert.deepEqual(parametersOf(jobsQuery({ account: "scope", state: "active", poolId: "gpu", prefix: "a b" })), {
    maxpagesize: "500",
    state: "active",
    poolId: "gpu",
    prefix: "a b",
  });
});

test("a prefix and a pool are found in any case, as Batch compares ids", () => {
  const render = job({ id: "Render-7", poolId: "GPU" });
  assert.ok(passes(render, { ...EVERY, prefix: "rENDER" }));
  assert.ok(!passes(render, { ...EVERY, prefix: "ender" }));
  assert.ok(passes(render, { ...EVERY, poolId: "gpu" }));
  assert.ok(!passes(job({}), { ...EVERY, poolId: "gpu" }));
});

test("a job has to pass every filter", () => {
  const filters = { ...EVERY, account: "scope", state: "active" };
  assert.ok(passes(job({}), filters));
  assert.ok(!passes(job({ state: "completed" }), filters));
  assert.ok(!passes(job({ account: "other" }), filters));
});

test("what is alive stands first, and within a state the newest", () => {
  const jobs = [
    job({ id: "done", state: "completed" }),
    job({ id: "gone", deleted: true }),
    job({ id: "older", creationTime: "2026-11-20T00:00:00Z" }),
    job({ id: "newer", creationTime: "2026-11-21T00:00:00Z" }),
    job({ id: "unknown age" }),
    job({ id: "ending", state: "terminating" }),
  ];
  assert.deepEqual(ids(jobs), ["newer", "older", "unknown age", "ending", "done", "gone"]);
});

test("jobs that are alike stay in the order of their ids", () => {
  assert.deepEqual(ids([job({ id: "b" }), job({ id: "c" }), job({ id: "a" })]), ["a", "b", "c"]);
});

test("a state that isn't known stands before what ended", () => {
  assert.ok(rankOf("new in Batch") > rankOf("deleting"));
  assert.ok(rankOf("new in Batch") < rankOf("completed"));
});
