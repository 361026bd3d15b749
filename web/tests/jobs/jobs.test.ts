import assert from "node:assert/strict";
import { test } from "node:test";
import type { Job } from "../../src/api/model.ts";
import { addressOfJobs, type JobFilters, jobsQuery, passes, readJobFilters } from "../../src/jobs/filters.ts";
import { byUrgency, rankOf } from "../../src/jobs/order.ts";
import { goTo, parametersOf } from "../address.ts";

const NO_FILTERS: JobFilters = { account: "", state: "", poolId: "", prefix: "" };

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
  goTo(addressOfJobs(filters));
  assert.deepEqual(readJobFilters(), filters);
  assert.equal(addressOfJobs(NO_FILTERS), "/");
  goTo("");
  assert.deepEqual(readJobFilters(), NO_FILTERS);
});

test("the query has the filters of the API, which the account is not", () => {
  assert.deepEqual(parametersOf(jobsQuery(NO_FILTERS)), { maxpagesize: "500" });
  assert.deepEqual(parametersOf(jobsQuery({ account: "scope", state: "active", poolId: "gpu", prefix: "a b" })), {
    maxpagesize: "500",
    state: "active",
    poolId: "gpu",
    prefix: "a b",
  });
});

test("a prefix and a pool are found in any case, as Batch compares ids", () => {
  const render = job({ id: "Render-7", poolId: "GPU" });
  assert.ok(passes(render, { ...NO_FILTERS, prefix: "rENDER" }));
  assert.ok(!passes(render, { ...NO_FILTERS, prefix: "ender" }));
  assert.ok(passes(render, { ...NO_FILTERS, poolId: "gpu" }));
  assert.ok(!passes(job({}), { ...NO_FILTERS, poolId: "gpu" }));
});

test("a job has to pass every filter", () => {
  const filters = { ...NO_FILTERS, account: "scope", state: "active" };
  assert.ok(passes(job({}), filters));
  assert.ok(!passes(job({ state: "completed" }), filters));
  assert.ok(!passes(job({ account: "other" }), filters));
});

test("live jobs come first, and within a state the newest", () => {
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

test("equal jobs are in the order of their ids", () => {
  assert.deepEqual(ids([job({ id: "b" }), job({ id: "c" }), job({ id: "a" })]), ["a", "b", "c"]);
});

test("an unknown state comes before ended jobs", () => {
  assert.ok(rankOf("new in Batch") > rankOf("deleting"));
  assert.ok(rankOf("new in Batch") < rankOf("completed"));
});
