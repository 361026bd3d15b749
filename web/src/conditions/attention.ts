// What of the conditions stands on the page: causes, each with the number of those that follow from it.

import { addressOfDetail, addressOfList } from "../routing/routes.ts";
import type { Condition } from "./model.ts";

export interface Cause {
  condition: Condition;
  /** How many other conditions follow from it. */
  following: number;
}

/** The conditions that follow from no other, in their order. */
export function causesOf(conditions: readonly Condition[]): Cause[] {
  const counts = new Map<string, number>();
  for (const { account, inhibitedBy } of conditions)
    if (inhibitedBy) {
      const key = keyOf(account, inhibitedBy);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  return conditions
    .filter(({ inhibitedBy }) => !inhibitedBy)
    .map((condition) => ({ condition, following: counts.get(keyOf(condition.account, condition)) ?? 0 }));
}

/** The key of a condition within those of all accounts. */
export function keyOf(account: string, { rule, kind, id }: { rule: string; kind: string; id: string }): string {
  return JSON.stringify([account, rule, kind, id.toLowerCase()]);
}

/** The address of what a condition is about. */
export function addressOf({ account, kind, id, pool }: Condition): string {
  if (kind === "job") return addressOfDetail("jobs", account, id);
  if (kind === "schedule") return addressOfDetail("schedules", account, id);
  if (kind === "pool") return addressOfDetail("pools", account, id);
  if (kind === "node") return addressOfDetail("pools", account, pool ?? "", { node: id });
  return addressOfList("jobs", { account });
}
