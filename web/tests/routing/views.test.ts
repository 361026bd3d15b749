import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOfJobView, type JobView, NO_TASK_FILTERS, readJobView } from "../../src/routing/jobView.ts";
import { addressOfPoolView, type PoolView, readPoolView } from "../../src/routing/poolView.ts";
import { goTo } from "../address.ts";

const JOB: JobView = { account: "scope", job: "render", range: null, task: "", tasks: NO_TASK_FILTERS };
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
  colour: "",
  agent: "",
};

test("a job's view survives its address", () => {
  const tasks = {
    show: "failed",
    prefix: "a b",
    poolId: "p 1",
    nodeId: "n&1",
    exitCode: "-1",
    failureGroup: "é",
    slots: "4",
    startedFrom: "2026-11-30T21:02:10.500Z",
    startedTo: "",
    runTimeFrom: "",
    runTimeTo: "PT1.5S",
    orderby: "runTime desc",
  };
  for (const view of [JOB, { ...JOB, range: "7d" as const, task: "t#1", tasks }]) {
    goTo(addressOfJobView(view));
    assert.deepEqual(readJobView(), view);
  }
});

test("an address without a job or an account has no view of one", () => {
  for (const search of ["", "?account=scope", "?job=render", "?account=&job=render"]) {
    goTo(search);
    assert.equal(readJobView(), null, search);
  }
});

test("an unknown range counts as none", () => {
  goTo("?account=scope&job=render&range=2h");
  assert.equal(readJobView()?.range, null);
  goTo("?account=scope&pool=gpu&range=2h");
  assert.equal(readPoolView("scope", "gpu").range, null);
});

test("a pool's view survives its address", () => {
  const parameters = {
    state: "unusable",
    cause: "disk: 100%",
    flapping: "true",
    prefix: "tvm",
    node: "tvm_1",
    charts: "6h",
    colour: "cpu",
    agent: "show",
  };
  for (const view of [POOL, { ...POOL, range: "90d" as const, ...parameters }]) {
    goTo(addressOfPoolView(view));
    assert.deepEqual(readPoolView("scope", "gpu"), view);
  }
});

test("only true filters for flapping nodes", () => {
  goTo("?account=scope&pool=gpu&flapping=yes");
  assert.equal(readPoolView("scope", "gpu").flapping, "");
});
