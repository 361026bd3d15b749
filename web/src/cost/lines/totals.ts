// The costs of an account's jobs or pools over the last days, each in one sum, for columns of lists.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiClient, ApiError } from "../../api/client.ts";
import { pathOfAccount } from "../../api/paths.ts";
import { Poller } from "../../api/poller.ts";
import { serverClock } from "../../time/clock.ts";
import type { AccountCost, CostSum } from "../amounts/model.ts";

export const TOTAL_DAYS = 30;
const DAY = 86_400_000;
const MIN_INTERVAL_MS = 60_000;
const INTERVAL_MS_PER_ACCOUNT = 1000;

export interface NamedCost {
  currency: string;
  cost: CostSum;
}

/** Costs by account, and by id in lower case, as Batch's ids don't differ by case. */
export type CostTotals = ReadonlyMap<string, ReadonlyMap<string, NamedCost>>;

/** Polls the costs of accounts; those of an account that can't be read are absent. */
export function useCostTotals(accounts: readonly string[], groupBy: "job" | "pool"): CostTotals {
  const [totals, setTotals] = useState<CostTotals>(new Map());
  const client = useRef(new ApiClient());
  useEffect(() => {
    if (!accounts.length) return undefined;
    const read = async (signal: AbortSignal) => {
      const answers = await Promise.all(accounts.map((account) => costOf(client.current, account, groupBy, signal)));
      client.current.dropUnused();
      return totalsOf(answers.filter((each) => each !== null));
    };
    const delay = () => Math.max(MIN_INTERVAL_MS, INTERVAL_MS_PER_ACCOUNT * accounts.length);
    return new Poller(read, delay, ({ value }) => value && setTotals(value)).start();
  }, [JSON.stringify(accounts), groupBy]);
  return totals;
}

async function costOf(client: ApiClient, account: string, groupBy: string, signal: AbortSignal): Promise<AccountCost | null> {
  try {
    return await client.get<AccountCost>(pathOfTotals(account, groupBy, serverClock.now()), signal);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/** The API's path of the costs of the days (UTC) up to today in a single step. */
export function pathOfTotals(account: string, groupBy: string, now: number): string {
  const first = (Math.floor(now / DAY) - TOTAL_DAYS + 1) * DAY;
  const from = new Date(first).toISOString().replace(".000Z", "Z");
  return `${pathOfAccount(account, "cost")}?${new URLSearchParams({ from, groupBy, step: `P${TOTAL_DAYS}D` })}`;
}

export function totalsOf(answers: readonly AccountCost[]): CostTotals {
  return new Map(
    answers.map(({ account, currency, value }) => [
      account,
      new Map(value.map(({ name, cost }) => [name.toLowerCase(), { currency, cost }])),
    ]),
  );
}

/** The accounts of rows, each once, in their order. */
export function accountsOf(rows: readonly { account: string }[]): string[] {
  return [...new Set(rows.map(({ account }) => account))].sort();
}

/** What something cost; undefined where that isn't known. */
export function totalOf(totals: CostTotals, account: string, id: string): NamedCost | undefined {
  return totals.get(account)?.get(id.toLowerCase());
}
