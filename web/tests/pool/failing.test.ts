import assert from "node:assert/strict";
import { test } from "node:test";
import { gridOf } from "../../src/pool/nodelist/cells.ts";
import { crossesOf, failingNodesOf, failingText, findingsOn } from "../../src/pool/nodelist/failing.ts";
import type { Finding } from "../../src/ui/findings/model.ts";

function finding(code: string, node: string | null, job = "job"): Finding {
  return { code, severity: "info", title: "", detail: "", evidence: { nodeId: node, jobId: job }, advice: "", since: null };
}

test("findings on failing nodes are grouped by node, in any case of its id, and others are left out", () => {
  const found = failingNodesOf([
    finding("nodeTasksFail", "TVM-1", "a"),
    finding("nodeTasksFail", "tvm-1", "b"),
    finding("nodeTasksFail", null),
    finding("startUpGrows", "tvm-2"),
  ]);
  assert.equal(found.size, 1);
  assert.equal(findingsOn(found, "Tvm-1").length, 2);
  assert.deepEqual(findingsOn(found, "tvm-2"), []);
  assert.equal(failingText(found), "Tasks fail on 1 node more often than chance explains");
  assert.equal(failingNodesOf(undefined).size, 0);
});

test("each failing node has a frame and a cross at its cell", () => {
  const grid = gridOf(3, 438);
  const nodes = [{ id: "a" }, { id: "b" }, { id: "c" }];
  assert.equal(crossesOf(nodes, failingNodesOf([]), grid), "");
  const path = crossesOf(nodes, failingNodesOf([finding("nodeTasksFail", "B")]), grid);
  assert.equal(path, "M22 0h20v20h-20zM24 2l16 16m0 -16l-16 16");
});
