import assert from "node:assert/strict";
import { test } from "node:test";
import { agentNodesQuery, countsOf, isOpen, reportingText } from "../../src/pool/agent/agentView.ts";
import { readPoolView } from "../../src/routing/poolView.ts";
import { goTo } from "../address.ts";

const nodes = (listed: number, reporting: number) => ({ value: [], listed, reporting });

test("the section is open where the start task names the agent, unless the address says otherwise", () => {
  const agent = "/bin/sh -c 'python3 batchscope-agent.pyz start || true'";
  const viewAt = (address: string) => {
    goTo(address);
    return readPoolView("scope", "gpu");
  };
  assert.equal(isOpen(viewAt("?account=scope&pool=gpu"), ""), false);
  assert.equal(isOpen(viewAt("?account=scope&pool=gpu"), "./install.sh"), false);
  assert.equal(isOpen(viewAt("?account=scope&pool=gpu"), agent), true);
  assert.equal(isOpen(viewAt("?account=scope&pool=gpu&agent=show"), ""), true);
  assert.equal(isOpen(viewAt("?account=scope&pool=gpu&agent=hide"), agent), false);
});

test("a page of nodes is asked for by selection", () => {
  assert.equal(agentNodesQuery("all"), "?maxpagesize=15");
  assert.equal(agentNodesQuery("reporting"), "?maxpagesize=15&reporting=true");
  assert.equal(agentNodesQuery("silent"), "?maxpagesize=15&reporting=false");
});

test("nodes that don't report count as silent", () => {
  assert.deepEqual(countsOf(nodes(40, 38)), { all: 40, reporting: 38, silent: 2 });
});

test("the sentence counts the nodes that report", () => {
  assert.equal(reportingText(nodes(0, 0)), "The pool has no nodes.");
  assert.equal(reportingText(nodes(1, 1)), "The node reports.");
  assert.equal(reportingText(nodes(1, 0)), "The node doesn't report.");
  assert.equal(reportingText(nodes(5_000, 5_000)), "All 5,000 nodes report.");
  assert.equal(reportingText(nodes(40, 0)), "None of 40 nodes reports.");
  assert.equal(reportingText(nodes(40, 1)), "1 of 40 nodes reports.");
  assert.equal(reportingText(nodes(40, 38)), "38 of 40 nodes report.");
});
