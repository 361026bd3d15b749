// The costs of an account's nodes, in the API's JSON. Names of groups come from outside: only shown as text.

import type { Finding } from "../../ui/findings/model.ts";

/** The groupings of the page, by the API's names. */
export const GROUPINGS = ["pool", "job", "schedule", "vmSize", "class"] as const;
export type PlainGrouping = (typeof GROUPINGS)[number];
/** By the value of an item of metadata of jobs, else of their pools, or of a tag of the account. */
export const LABEL_SOURCES = ["metadata", "tag"] as const;
export type LabelGrouping = `${(typeof LABEL_SOURCES)[number]}:${string}`;
export type Grouping = PlainGrouping | LabelGrouping;

/** How the cost of time that no task held is shared among jobs, the default first. */
export const SHARINGS = ["proportional", "even", "none"] as const;
export type Sharing = (typeof SHARINGS)[number];

/** Money, with six digits after the point, and seconds of nodes by cost class. */
export interface CostSum {
  /** Null where no time has a price; without unpriced and uncertain time. */
  amount: number | null;
  wastedAmount: number | null;
  /** A job's share of time that no task held. */
  sharedAmount: number | null;
  /** The price of time in which nobody watched. */
  uncertainAmount: number | null;
  unpricedSeconds: number;
  amounts: Record<string, number>;
  nodeSeconds: Record<string, number>;
  /** vCPUs times seconds of billed nodes, and those that tasks held by their slots. */
  coreSeconds: number;
  busyCoreSeconds: number;
}

export interface CostStep {
  from: string;
  to: string;
  cost: CostSum;
}

/** `name` is "" for what belongs to no job or schedule, and for nodes of unknown size. Steps without costs are absent. */
export interface CostGroup {
  name: string;
  cost: CostSum;
  steps: CostStep[];
}

/** Seconds of nodes without a price; `detail` is a sentence about the reason. */
export interface Unpriced {
  vmSize: string;
  dedicated: boolean;
  seconds: number;
  reason: string;
  detail: string;
}

/** The answer of `GET accounts/{account}/cost`; the groups are in the order of their amounts, the largest first. */
export interface AccountCost {
  account: string;
  currency: string;
  asOf: string | null;
  from: string;
  to: string;
  groupBy: string;
  step: string;
  cost: CostSum;
  steps: CostStep[];
  value: CostGroup[];
  unpriced: Unpriced[];
  /** Days (UTC), such as "2026-11-29", without stored usage. */
  missingDays: string[];
  /** Names of metadata and tags by whose values costs can be grouped. */
  labels: string[];
}

/** The month's costs at its end, with each day left like the mean, cheapest and dearest of the last full `days`. */
export interface CostForecast {
  amount: number;
  low: number;
  high: number;
  days: number;
}

/** The answer of `GET accounts/{account}/cost/summary`, about days and the month (UTC) so far. */
export interface CostSummary {
  currency: string;
  /** Null where no day's costs are known. */
  month: number | null;
  /** Null before three full days are known. */
  forecast: CostForecast | null;
  /** Days (UTC) of the month and of the eight days before today without stored usage. */
  missingDays: string[];
  budgets: Budget[];
}

/** A monthly budget: of the account, or of the pool or job schedule `target`. */
export interface Budget {
  name: string;
  scope: string;
  target: string | null;
  amount: number;
  currency: string;
  /** `exceeded`, `willExceed`, `within`, or `unknown`. */
  state: string;
  spent: number | null;
  forecast: CostForecast | null;
  /** The day (UTC) with whose costs the sum exceeds the amount. */
  exceededOn: string | null;
  unpricedSeconds: number;
  /** Why the state is unknown, or that the pool or job schedule had no usage. */
  reason: string | null;
}

/** A finding on a pool or a job, with the money of some days and of a month; null without a price. */
export interface WasteFinding extends Finding {
  scope: string;
  id: string;
  amount: number | null;
  /** Null before three full days are known. */
  monthlyAmount: number | null;
  nodeSeconds: number;
  unpricedSeconds: number;
}

/** A page of `GET accounts/{account}/cost/waste`, the dearest finding first. */
export interface Waste {
  account: string;
  currency: string;
  days: string[];
  value: WasteFinding[];
  /** The number of findings on all pages. */
  count: number;
}

/** Whether jobs bear a share of time that no task held. */
export function hasShares(groupBy: string): boolean {
  return groupBy === "job" || groupBy === "schedule" || groupBy.startsWith("metadata:");
}

export function isLabel(groupBy: string): groupBy is LabelGrouping {
  return LABEL_SOURCES.some((source) => groupBy.startsWith(`${source}:`) && groupBy.length > source.length + 1);
}
