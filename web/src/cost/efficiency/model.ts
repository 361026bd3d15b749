// The JSON of an account's efficiency. Every string comes from outside and is only shown as text.

import type { UsedShares } from "../../api/model.ts";

export interface EfficiencySums {
  /** Jobs with measured runs. */
  jobs: number;
  measuredRuns: number;
  /** Null: no price. */
  amount: number | null;
  wastedAmount: number | null;
  usedShares: UsedShares;
}

export interface EfficiencyStep {
  from: string;
  to: string;
  sums: EfficiencySums;
}

export interface EfficiencyGroup {
  /** Empty for jobs without a value. */
  name: string;
  sums: EfficiencySums;
  steps: EfficiencyStep[];
}

/** Advice on a job or a pool, with the money that it would have saved; the other one is null. */
export interface Saving {
  job: string | null;
  pool: string | null;
  code: string;
  vmSize: string;
  title: string;
  advice: string;
  /** What the time that it concerns costs. */
  heldAmount: number;
  /** What it would have saved by itself, and what is left of that beside the changes before it. */
  ownAmount: number;
  amount: number;
}

export interface AccountEfficiency {
  account: string;
  from: string;
  to: string;
  currency: string;
  value: EfficiencyGroup[];
  savings: Saving[];
}
