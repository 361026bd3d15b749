import assert from "node:assert/strict";
import { test } from "node:test";
import type { Account } from "../../src/api/model.ts";
import { countsByGroup, nodeTotal, sortedStates, stateGroupOf, stateLabel } from "../../src/nodes/stateGroups.ts";
import { accountNodesText, agentVersionsText, nodeStatesText, slotsText, unknownCoresText, vmSizesText } from "../../src/nodes/summaries.ts";

function account(change: Partial<Account>): Account {
  const pools = { total: 1, byState: {}, notRead: 0, asOf: null };
  return { pools, nodeCounts: {}, cores: null, unknownCores: null, ...change } as Account;
}

test("a state that Batch adds later is in the group of others, and keeps its name", () => {
  assert.equal(stateGroupOf("hibernated"), "other");
  assert.equal(stateLabel("hibernated"), "hibernated");
  assert.equal(stateLabel("waitingforstarttask"), "waiting for start task");
});

test("states are summed by group", () => {
  const groups = countsByGroup({ creating: 2, reimaging: 3, unusable: 1, hibernated: 4 });
  assert.deepEqual([groups.starting, groups.trouble, groups.other, groups.running], [5, 1, 4, 0]);
  assert.equal(nodeTotal({}), 0);
  assert.equal(nodeTotal({ idle: 2, running: 3 }), 5);
});

test("states are in the order of their groups, then the most frequent first", () => {
  const found = sortedStates({ unusable: 9, creating: 1, rebooting: 2, running: 1, offline: 2, deallocated: 2 });
  assert.deepEqual(
    found.map(([state]) => state),
    ["running", "rebooting", "creating", "deallocated", "offline", "unusable"],
  );
});

test("only states with nodes are listed", () => {
  assert.equal(nodeStatesText({ idle: 0, unusable: 3, running: 1200 }), "1,200 running, 3 unusable");
  assert.equal(nodeStatesText({}), "");
});

test("slots of nodes that accept no tasks are out of service", () => {
  assert.equal(slotsText({ total: 288, used: 120, free: 52 }), "of 288, 52 free, 116 out of service");
  assert.equal(slotsText({ total: 10, used: 4, free: 6 }), "of 10, 6 free");
});

test("numbers from different times put no slots out of service", () => {
  assert.equal(slotsText({ total: 10, used: 6, free: 6 }), "of 10, 6 free");
});

test("a pool of several sizes names them, the most frequent first", () => {
  assert.equal(vmSizesText({ vmSize: "Mix", vmSizes: { e4: 2, d4: 1200 } }), "Mix: 1,200 × d4, 2 × e4");
  assert.equal(vmSizesText({ vmSize: "Mix", vmSizes: { d4: 1 } }), "Mix: 1 × d4");
  assert.equal(vmSizesText({ vmSize: "Mix", vmSizes: {} }), "Mix");
});

test("versions of the node agent are named with their nodes, and an unknown one isn't", () => {
  assert.equal(agentVersionsText({ "1.12.3": 1, "1.13.0": 1200 }), "1.12.3 on 1 node, 1.13.0 on 1,200 nodes");
  assert.equal(agentVersionsText({}), null);
  assert.equal(agentVersionsText(null), null);
});

test("a pool of one size has no numbers beside it", () => {
  assert.equal(vmSizesText({ vmSize: "STANDARD_D4S_V5", vmSizes: { standard_d4s_v5: 3 } }), "STANDARD_D4S_V5");
  assert.equal(vmSizesText({ vmSize: "standard_d4s_v5", vmSizes: null }), "standard_d4s_v5");
});

test("unknown cores are those of some nodes, or of the size", () => {
  assert.equal(unknownCoresText(1), "cores of 1 node unknown");
  assert.equal(unknownCoresText(0), "cores of this VM size unknown");
});

test("the text about an account's nodes names the unknown parts", () => {
  assert.equal(accountNodesText(account({ pools: null })), "nodes not read yet");
  assert.equal(accountNodesText(account({})), "0 nodes");
  assert.equal(
    accountNodesText(
      account({
        pools: { total: 3, byState: {}, notRead: 1, asOf: null },
        nodeCounts: { running: 300, unusable: 3 },
        cores: { total: 2000, busy: 1240 },
        unknownCores: 2,
      }),
    ),
    "303 nodes: 300 running, 3 unusable; 1,240 of 2,000 cores busy; cores of 2 nodes unknown; 1 pool not read yet",
  );
});
