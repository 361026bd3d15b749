// Quotas in words, and their order.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Quota } from "../../src/quotas/model.ts";
import { byShare, levelOf, limitText, nounOf, reachedText, sharedReason, unknownNodesText, usedShare } from "../../src/quotas/texts.ts";

const NOW = Date.parse("2026-11-30T09:00:00Z");

function quota(changes: Partial<Quota> = {}): Quota {
  const usual = { quota: "pools", family: null, limit: 100, used: 20, share: 0.2, reachedAt: null, noLimit: null, detail: null };
  return { ...usual, ...changes };
}

function answer(value: Quota[], unknownNodes = 0) {
  return { account: "demo", asOf: null, problem: null, unknownNodes, value, findings: [] };
}

test("the quota nearest to its limit is first, and those without a limit are last, by their use", () => {
  const unread = { limit: null, share: null, noLimit: "failed" };
  const quotas = [quota({ ...unread, used: 3 }), quota({ share: 0 }), quota({ ...unread, used: 8 }), quota({ share: 0.95 })];
  assert.deepEqual(
    byShare(quotas).map(({ share, used }) => share ?? used),
    [0.95, 0, 8, 3],
  );
});

test("a limit that isn't there says whether it was read", () => {
  assert.equal(limitText(quota({ limit: 1200 })), "1,200");
  for (const noLimit of ["off", "idUnknown", "notReadYet", "failed"])
    assert.equal(limitText(quota({ limit: null, noLimit })), "not read");
  for (const noLimit of ["userSubscription", "notReported"])
    assert.equal(limitText(quota({ limit: null, noLimit })), "not known");
});

test("the share is that of the numbers, not of the rounded share", () => {
  assert.equal(usedShare(quota({ used: 48, limit: 1_000_000, share: 0 })), "< 0.1%");
  assert.equal(usedShare(quota({ used: 4, limit: 0, share: 1 })), "100%");
  assert.equal(usedShare(quota({ used: 0, limit: 0, share: null })), "–");
});

test("a quota is nearly full from 90 percent on", () => {
  assert.deepEqual(
    [null, 0.89, 0.9, 1, 1.2].map((share) => levelOf(quota({ share }))),
    ["free", "free", "nearlyFull", "full", "full"],
  );
});

test("when a limit is reached is a rough duration", () => {
  const inDays = (days: number) => quota({ reachedAt: new Date(NOW + days * 86_400_000).toISOString() });
  assert.equal(reachedText(inDays(5.2), NOW), "in about 5 d");
  assert.equal(reachedText(inDays(-0.01), NOW), "within an hour");
  assert.equal(reachedText({ ...inDays(0), share: 1 }, NOW), "now");
  assert.equal(reachedText(quota(), NOW), "–");
});

test("a reason that all limits share is said once", () => {
  const off = quota({ limit: null, share: null, noLimit: "off", detail: "Switched off." });
  assert.equal(sharedReason(answer([off, off])), "Switched off.");
  assert.equal(sharedReason(answer([off, { ...off, detail: "Not reported." }])), "");
  assert.equal(sharedReason(answer([quota(), quota()])), "");
});

test("names of quotas are words, also those of a later version", () => {
  assert.equal(nounOf(quota({ quota: "spotCores" })), "spot cores");
  assert.equal(nounOf(quota({ quota: "publicAddresses" })), "public addresses");
});

test("nodes whose cores aren't known are named with their number", () => {
  assert.equal(unknownNodesText(answer([])), "");
  assert.equal(unknownNodesText(answer([], 1)), "The cores of 1 node aren't known, so they aren't counted.");
});
