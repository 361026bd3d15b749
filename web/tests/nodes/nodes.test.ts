import assert from "node:assert/strict";
import { test } from "node:test";
import type { Account } from "../../src/api/model.ts";
import { byKind, kindOf, statesOf, stateWords, sumOf } from "../../src/nodes/kinds.ts";
import { inWords, restOfSlots, totalsInWords } from "../../src/nodes/words.ts";

function account(change: Partial<Account>): Account {
  const pools = { total: 1, byState: {}, notRead: 0, asOf: null };
  return { pools, nodeCounts: {}, cores: null, unknownCores: null, ...change } as Account;
}

test("a state that Batch adds some day is of no known kind, and has its own name", () => {
  assert.equal(kindOf("hibernated"), "other");
  assert.equal(stateWords("hibernated"), "hibernated");
  assert.equal(stateWords("waitingforstarttask"), "waiting for start task");
});

test("states are summed up by kind", () => {
  const kinds = byKind({ creating: 2, reimaging: 3, unusable: 1, hibernated: 4 });
  assert.deepEqual([kinds.starting, kinds.trouble, kinds.other, kinds.running], [5, 1, 4, 0]);
  assert.equal(sumOf({}), 0);
  assert.equal(sumOf({ idle: 2, running: 3 }), 5);
});

test("states stand in the order of their kinds, then the most frequent first", () => {
  const found = statesOf({ unusable: 9, creating: 1, rebooting: 2, running: 1, offline: 2, deallocated: 2 });
  assert.deepEqual(
    found.map(([state]) => state),
    ["running", "rebooting", "creating", "deallocated", "offline", "unusable"],
  );
});

test("only states that a node is in are told", () => {
  assert.equal(inWords({ idle: 0, unusable: 3, running: 1200 }), "1,200 running, 3 unusable");
  assert.equal(inWords({}), "");
});

test("slots of nodes that take no tasks are out of service", () => {
  assert.equal(restOfSlots({ total: 288, used: 120, free: 52 }), "of 288, 52 free, 116 out of service");
  assert.equal(restOfSlots({ total: 10, used: 4, free: 6 }), "of 10, 6 free");
});

test("numbers that are of different moments make no slots out of service", () => {
  assert.equal(restOfSlots({ total: 10, used: 6, free: 6 }), "of 10, 6 free");
});

test("an account's nodes are told with what isn't known of them", () => {
  assert.equal(totalsInWords(account({ pools: null })), "nodes not read yet");
  assert.equal(totalsInWords(account({})), "0 nodes");
  assert.equal(
    totalsInWords(
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
