import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOfJob, addressOfList, addressOfOne, isKnownAddress, readPlace } from "../../src/routing/places.ts";
import { goTo } from "../address.ts";

test("an address without a view is the list of jobs", () => {
  goTo("");
  assert.deepEqual(readPlace(), { tab: "jobs", account: "", id: null });
  assert.ok(isKnownAddress());
});

test("a list is read from its address", () => {
  goTo("?view=pools&account=scope.westeurope");
  assert.deepEqual(readPlace(), { tab: "pools", account: "scope.westeurope", id: null });
});

test("one thing is read from its address, whatever its id holds", () => {
  for (const id of ["render", "a&b=c?d#e", "ünï/ %2F", "nightly:job-7"]) {
    goTo(addressOfOne("jobs", "scope", id));
    assert.deepEqual(readPlace(), { tab: "jobs", account: "scope", id }, id);
  }
});

test("an id without an account names nothing", () => {
  goTo("?job=render");
  assert.deepEqual(readPlace(), { tab: "jobs", account: "", id: null });
});

test("a job is a filter where events are looked at", () => {
  goTo("?view=events&account=scope&job=render");
  assert.deepEqual(readPlace(), { tab: "events", account: "scope", id: null });
});

test("a view that there isn't, and another path, lead nowhere", () => {
  goTo("?view=nodes");
  assert.ok(!isKnownAddress());
  goTo("", "/jobs");
  assert.ok(!isKnownAddress());
  goTo("", "/index.html");
  assert.ok(isKnownAddress());
});

test("what is empty is left out of an address", () => {
  goTo("?state=active");
  assert.equal(addressOfList("jobs", { account: "", state: "" }), "/");
  assert.equal(addressOfList("jobs", { account: "", state: "active" }), "?state=active");
  assert.equal(addressOfList("pools", { account: "" }), "?view=pools");
  assert.equal(
    addressOfOne("pools", "scope", "gpu", { node: "", state: "idle" }),
    "?account=scope&pool=gpu&state=idle",
  );
});

test("a task is looked at on the page of its job", () => {
  assert.equal(addressOfJob("scope", "render"), "?account=scope&job=render");
  assert.equal(addressOfJob("scope", "render", "frame 7"), "?account=scope&job=render&task=frame+7");
});
