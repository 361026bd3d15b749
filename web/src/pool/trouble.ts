// What is the matter with a pool, in short sentences; and the order that puts such pools first.

import type { Account } from "../api/model.ts";
import { plural } from "../format/numbers.ts";
import { begun } from "../format/text.ts";
import type { Pool } from "./model.ts";

/** `detail` is what Batch says of it; a trouble that is `stale` is over, as far as Batch tells. */
export interface Trouble {
  text: string;
  detail: string;
  stale: boolean;
  /** When it was told last. */
  at: string | null;
}

const BAD_STATES: Record<string, (number: number) => string> = {
  unusable: (number) => `${plural(number, "node")} unusable`,
  starttaskfailed: (number) => `start task failed on ${plural(number, "node")}`,
  unknown: (number) => `lost contact with ${plural(number, "node")}`,
};

/** Ids of accounts that aren't watched. */
export type Off = ReadonlySet<string>;

export function switchedOff(accounts: Account[]): Off {
  return new Set(accounts.flatMap(({ id, enabled }) => (enabled ? [] : [id])));
}

/** Everything that is wrong now, and after it the errors of resizes before the last.
 *
 * That numbers are stale where nobody watches is nothing wrong with a pool.
 */
export function troublesOf(pool: Pool, off: Off = new Set()): Trouble[] {
  const found: Trouble[] = [];
  const add = (text: string, detail = "", stale = false, at: string | null = null) =>
    found.push({ text, detail, stale, at });
  const errors = pool.resizeErrors;
  for (const error of errors.filter(({ current }) => current)) {
    const times = error.attempts > 1 ? ` ${plural(error.attempts, "time")}` : "";
    add(`Resize failed${times}: ${error.code}`, error.message, false, error.time ?? error.firstSeen);
  }
  const failed = pool.autoScale?.error;
  if (failed) add(`Autoscale failed: ${failed.code}`, failed.message, false, pool.autoScale?.lastEvaluation ?? null);
  for (const [state, words] of Object.entries(BAD_STATES)) {
    const number = pool.nodeCounts?.[state];
    if (number) add(begun(words(number)));
  }
  if (pool.flappingNodes) {
    add(`${plural(pool.flappingNodes, "node")} flapping`, "Entered a bad state at least three times within an hour.");
  }
  if (pool.verdict.level === "stale" && !off.has(pool.account)) add("The data is stale", pool.verdict.reason);
  for (const error of errors.filter(({ current }) => !current)) {
    add(`Earlier resize failed: ${error.code}`, error.message, true, error.lastSeen);
  }
  return found;
}

export function hasProblems(pool: Pool, off: Off): boolean {
  return troublesOf(pool, off).some(({ stale }) => !stale);
}

export const ORDERS = ["problems", "id", "nodes", "cores", "slots"] as const;
export type Order = (typeof ORDERS)[number];

/** Ties are broken by id, so that rows stay where they are. */
export function sorted(pools: Pool[], order: Order, off: Off): Pool[] {
  const keyed = pools.map((pool) => ({ pool, weight: weightOf(pool, order, off) }));
  keyed.sort(
    (one, other) =>
      other.weight - one.weight ||
      one.pool.id.localeCompare(other.pool.id) ||
      one.pool.account.localeCompare(other.pool.account),
  );
  return keyed.map(({ pool }) => pool);
}

/** What comes first has the greatest. */
function weightOf(pool: Pool, order: Order, off: Off): number {
  if (order === "problems") return troublesOf(pool, off).filter(({ stale }) => !stale).length;
  if (order === "nodes") return pool.dedicated.current + pool.spot.current;
  if (order === "cores") return pool.cores?.busy ?? -1;
  if (order === "slots") return pool.slots?.used ?? -1;
  return 0;
}
