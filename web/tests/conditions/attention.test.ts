import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, causesOf } from "../../src/conditions/attention.ts";
import type { Condition } from "../../src/conditions/model.ts";

const FINDING = { code: "c", severity: "info" as const, title: "t", detail: "d", evidence: {}, advice: "a", since: null };

function condition(change: Partial<Condition>): Condition {
  const base = { account: "demo", rule: "jobStuck", kind: "job" as const, id: "Job", pool: null, since: "2026-01-01T00:00:00Z" };
  return { ...base, unknown: null, finding: FINDING, inhibitedBy: null, ...change };
}

test("causes stand in their order, each with the number of conditions that follow from it", () => {
  const pool = condition({ rule: "poolResizeFailed", kind: "pool", id: "Pool" });
  const inhibitedBy = { rule: "poolResizeFailed", kind: "pool", id: "pool" };
  const other = condition({ account: "other", inhibitedBy });
  const found = causesOf([pool, condition({ inhibitedBy }), condition({ id: "two", inhibitedBy }), other]);
  assert.deepEqual(found, [{ condition: pool, following: 2 }]);
});

test("each kind of resource has its address", () => {
  const addresses = [
    condition({}),
    condition({ kind: "pool", id: "p" }),
    condition({ kind: "schedule", id: "s" }),
    condition({ kind: "node", id: "n", pool: "p" }),
    condition({ kind: "account", id: "demo" }),
  ].map(addressOf);
  assert.deepEqual(addresses, [
    "?account=demo&job=Job",
    "?account=demo&pool=p",
    "?account=demo&schedule=s",
    "?account=demo&pool=p&node=n",
    "?account=demo",
  ]);
});
