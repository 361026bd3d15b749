// What Azure retires, as the API lists it, and its words.

import type { Page } from "../api/model.ts";
import { formatCount, plural } from "../format/numbers.ts";

/** An announcement; `lastDay` and `daysLeft` are null where no day is known, `daysLeft` is negative after it. */
export interface Announced {
  id: string;
  what: string;
  lastDay: string | null;
  daysLeft: number | null;
  effect: string;
  instead: string;
  source: string;
  readOn: string;
}

export interface ConcernedPool {
  account: string;
  id: string;
  nodes: number;
  jobs: number;
}

export interface RetirementEntry extends Announced {
  pools: ConcernedPool[];
  /** Pools for which it isn't known whether they are concerned. */
  unknownPools: number;
  concernsApp: boolean;
}

/** Why it isn't known when Batch's support of an account's images ends, or not of all. */
export interface UnknownImages {
  account: string;
  reason: string;
}

export interface RetirementsAnswer extends Page<RetirementEntry> {
  unknownImages: UnknownImages[];
}

/** Days before the last day from which on an entry is urgent, and soon. */
const URGENT = 14;
const SOON = 60;

export function urgencyOf({ daysLeft }: Announced): "bad" | "warn" | "plain" {
  if (daysLeft === null || daysLeft > SOON) return "plain";
  return daysLeft > URGENT ? "warn" : "bad";
}

/** "in 14 days", "3 days ago", "today", "no day known". */
export function daysText({ daysLeft: days }: Announced): string {
  if (days === null) return "no day known";
  if (days === 0) return "today";
  return days > 0 ? `in ${plural(days, "day")}` : `${plural(-days, "day")} ago`;
}

/** The address of the list for the pools of one account, or of all for "". */
export function pathOf(account: string, all: boolean): string {
  const only = account && `account=${encodeURIComponent(account)}&`;
  return `/api/retirements?${only}all=${all}`;
}

export function poolText({ nodes, jobs }: ConcernedPool): string {
  return `${plural(nodes, "node")}, ${jobs ? `${formatCount(jobs)} open ${jobs === 1 ? "job" : "jobs"}` : "no open job"}`;
}
