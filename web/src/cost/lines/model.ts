// The costs of one job and of one pool, in the API's JSON.

import type { CostSum } from "../amounts/model.ts";

/** The answer of `GET accounts/{account}/jobs/{job}/cost`: money so far, of a completed task, and at the job's end. */
export interface JobCost {
  currency: string;
  /** Null before the first roll-up. */
  asOf: string | null;
  cost: CostSum;
  /** Days of the job's life without stored usage. */
  missingDays: string[];
  /** Null before ten tasks completed, with missing days, and with time without a price. */
  task: { mean: number; p50: number; p95: number } | null;
  forecast: { amount: number; low: number; high: number; tasksLeft: number } | null;
}

/** The answer of `GET accounts/{account}/pools/{pool}/cost`, of the day (UTC) so far; seconds of nodes by billing class. */
export interface PoolCost {
  currency: string;
  /** Null before the first poll that counts. */
  asOf: string | null;
  nodeSeconds: { dedicated: Record<string, number>; spot: Record<string, number> };
  /** Of nodes that certainly had a machine. */
  billedSeconds: { dedicated: number; spot: number };
  /** Null where nothing has a price. */
  amount: number | null;
  unpricedSeconds: number | null;
}
