import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOfDetail, addressOfJob, addressOfList, isKnownAddress, readRoute } from "../../src/routing/routes.ts";
import { goTo } from "../address.ts";

test("an address without a view is the list of jobs", () => {
  goTo("");
  assert.deepEqual(readRoute(), { tab: "jobs", account: "", id: null });
  assert.ok(isKnownAddress());
});

test("a list is read from its address", () => {
  goTo("?view=pools&account=scope.westeurope");
  assert.deepEqual(readRoute(), { tab: "pools", account: "scope.westeurope", id: null });
});

test("an entry is read from its address, with any characters in its id", () => {
  for (const id of ["render", "a&b=c?d#e", "ünï/ %2F", "nightly:job-7"]) {
    goTo(addressOfDetail("jobs", "scope", id));
    assert.deepEqual(readRoute(), { tab: "jobs", account: "scope", id }, id);
  }
});

test("an id without an account names nothing", () => {
  goTo("?job=render");
  assert.deepEqual(readRoute(), { tab: "jobs", account: "", id: null });
});

test("a job is a filter in the list of events", () => {
  goTo("?view=events&account=scope&job=render");
  assert.deepEqual(readRoute(), { tab: "events", account: "scope", id: null });
});

test("quotas are a page of their own, also of an account", () => {
  goTo("?view=quotas&account=scope");
  assert.deepEqual(readRoute(), { tab: "quotas", account: "scope", id: null });
  assert.ok(isKnownAddress());
});

test("costs are a page of their own, also of an account", () => {
  goTo("?view=cost&account=scope&groupBy=job");
  assert.deepEqual(readRoute(), { tab: "cost", account: "scope", id: null });
  assert.ok(isKnownAddress());
});

test("an unknown view and another path are unknown addresses", () => {
  goTo("?view=nodes");
  assert.ok(!isKnownAddress());
  goTo("", "/jobs");
  assert.ok(!isKnownAddress());
  goTo("", "/index.html");
  assert.ok(isKnownAddress());
});

test("empty filters are omitted from an address", () => {
  goTo("?state=active");
  assert.equal(addressOfList("jobs", { account: "", state: "" }), "/");
  assert.equal(addressOfList("jobs", { account: "", state: "active" }), "?state=active");
  assert.equal(addressOfList("pools", { account: "" }), "?view=pools");
  assert.equal(
    addressOfDetail("pools", "scope", "gpu", { node: "", state: "idle" }),
    "?account=scope&pool=gpu&state=idle",
  );
});

test("a task is shown on the page of its job", () => {
  assert.equal(addressOfJob("scope", "render"), "?account=scope&job=render");
  assert.equal(addressOfJob("scope", "render", "frame 7"), "?account=scope&job=render&task=frame+7");
});
