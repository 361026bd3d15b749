import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOfView, EVERY_TASK, type JobView, readView } from "../../src/routing/jobView.ts";
import { addressOfPool, type PoolView, readPoolView } from "../../src/routing/poolView.ts";
import { goTo } from "../address.ts";

const JOB: JobView = { account: "scope", job: "render", range: null, task: "", tasks: EVERY_TASK };
const POOL: PoolView = {
  account: "scope",
  pool: "gpu",
  range: null,
  state: "",
  cause: "",
  flapping: "",
  prefix: "",
  node: "",
  charts: "",
};

test("a job's view survives its address", () => {
  const tasks = {
    show: "failed",
    prefix: "a b",
    nodeId: "n&1",
    exitCode: "-1",
    failureGroup: "é",
    orderby: "runTime desc",
  };
  for (const view of [JOB, { ...JOB, range: "7d" as const, task: "t#1", tasks }]) {
    goTo(addressOfView(view));
    assert.deepEqual(readView(), view);
  }
});

test("an address without a job or an account has no view of one", () => {
  for (const search of ["", "?account=scope", "?job=render", "?account=&job=render"]) {
    goTo(search);
    assert.equal(readView(), null, search);
  }
});

test("a range that there isn't counts as none", () => {
  goTo("?account=scope&job=render&range=2h");
  assert.equal(readView()?.range, null);
  goTo("?account=scope&pool=gpu&range=2h");
  assert.equal(readPoolView("scope", "gpu").range, null);
});

test("a pool's view survives its address", () => {
  const looked = {
    state: "unusable",
    cause: "disk: 100%",
    flapping: "true",
    prefix: "tvm",
    node: "tvm_1",
    charts: "6h",
  };
  for (const view of [POOL, { ...POOL, range: "90d" as const, ...looked }]) {
    goTo(addressOfPool(view));
    assert.deepEqual(readPoolView("scope", "gpu"), view);
  }
});

test("only true asks for flapping nodes", () => {
  goTo("?account=scope&pool=gpu&flapping=yes");
  assert.equal(readPoolView("scope", "gpu").flapping, "");
});
