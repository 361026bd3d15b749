// The problems of a pool, as short sentences, and the orders of pools.

import type { Account } from "../api/model.ts";
import { plural } from "../format/numbers.ts";
import { capitalized } from "../format/text.ts";
import type { Pool, Retirement } from "./model.ts";

/** `detail` is Batch's own message. A `stale` problem is one that Batch reported earlier, but doesn't any more. */
export interface PoolProblem {
  text: string;
  detail: string;
  stale: boolean;
  /** When it was last reported. */
  at: string | null;
}

const BAD_STATES: Record<string, (number: number) => string> = {
  unusable: (number) => `${plural(number, "node")} unusable`,
  starttaskfailed: (number) => `start task failed on ${plural(number, "node")}`,
  unknown: (number) => `lost contact with ${plural(number, "node")}`,
};

/** Ids of accounts whose monitoring is off. */
export type UnmonitoredAccounts = ReadonlySet<string>;

export function unmonitoredAccounts(accounts: Account[]): UnmonitoredAccounts {
  return new Set(accounts.flatMap(({ id, enabled }) => (enabled ? [] : [id])));
}

/** Current problems, then errors of earlier resizes. Stale data is a problem only while the account is monitored. */
export function problemsOf(pool: Pool, unmonitored: UnmonitoredAccounts = new Set()): PoolProblem[] {
  const found: PoolProblem[] = [];
  const add = (text: string, detail = "", stale = false, at: string | null = null) =>
    found.push({ text, detail, stale, at });
  const errors = pool.resizeErrors;
  for (const error of errors.filter(({ current }) => current)) {
    const times = error.attempts > 1 ? ` ${plural(error.attempts, "time")}` : "";
    add(`Resize failed${times}: ${error.code}`, error.message, false, error.time ?? error.firstSeen);
  }
  const failed = pool.autoScale?.error;
  if (failed) add(`Autoscale failed: ${failed.code}`, failed.message, false, pool.autoScale?.lastEvaluation ?? null);
  for (const [state, label] of Object.entries(BAD_STATES)) {
    const number = pool.nodeCounts?.[state];
    if (number) add(capitalized(label(number)));
  }
  if (pool.flappingNodes) {
    add(`${plural(pool.flappingNodes, "node")} flapping`, "Entered a bad state at least three times within an hour.");
  }
  if (pool.verdict.level === "stale" && !unmonitored.has(pool.account)) add("The data is stale", pool.verdict.reason);
  for (const one of pool.retirements) {
    if (one.leadDays !== null) add(endOf(one), `${one.effect} Use instead: ${one.instead}`);
  }
  for (const error of errors.filter(({ current }) => !current)) {
    add(`Earlier resize failed: ${error.code}`, error.message, true, error.lastSeen);
  }
  return found;
}

/** "Retired in 14 days: Ubuntu 22.04". */
export function endOf({ what, daysLeft: days }: Pick<Retirement, "what" | "daysLeft">): string {
  if (days === null) return `Retired on a day that isn't known yet: ${what}`;
  if (days < 0) return `Retired ${plural(-days, "day")} ago: ${what}`;
  return days === 0 ? `Retired today: ${what}` : `Retired in ${plural(days, "day")}: ${what}`;
}

export function hasProblems(pool: Pool, unmonitored: UnmonitoredAccounts): boolean {
  return problemsOf(pool, unmonitored).some(({ stale }) => !stale);
}

export const ORDERS = ["problems", "id", "nodes", "cores", "slots"] as const;
export type Order = (typeof ORDERS)[number];

/** Ties are broken by id, so that rows keep their places. */
export function sortedPools(pools: Pool[], order: Order, unmonitored: UnmonitoredAccounts): Pool[] {
  const keyed = pools.map((pool) => ({ pool, weight: weightOf(pool, order, unmonitored) }));
  keyed.sort(
    (one, other) =>
      other.weight - one.weight ||
      one.pool.id.localeCompare(other.pool.id) ||
      one.pool.account.localeCompare(other.pool.account),
  );
  return keyed.map(({ pool }) => pool);
}

/** The first pool has the greatest weight. */
function weightOf(pool: Pool, order: Order, unmonitored: UnmonitoredAccounts): number {
  if (order === "problems") return problemsOf(pool, unmonitored).filter(({ stale }) => !stale).length;
  if (order === "nodes") return pool.dedicated.current + pool.spot.current;
  if (order === "cores") return pool.cores?.busy ?? -1;
  if (order === "slots") return pool.slots?.used ?? -1;
  return 0;
}
