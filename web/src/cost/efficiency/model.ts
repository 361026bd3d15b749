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

/** Advice on a job, with the money that it would have saved. */
export interface Saving {
  job: string;
  code: string;
  vmSize: string;
  title: string;
  advice: string;
  heldAmount: number;
  amount: number;
}

export interface AccountEfficiency {
  account: string;
  currency: string;
  value: EfficiencyGroup[];
  savings: Saving[];
}
