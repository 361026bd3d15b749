// How the jobs of the card on efficiency are grouped: as the page's costs where jobs can be, else by prefix.

import { wordsOf } from "../amounts/groups.ts";
import { isLabel } from "../amounts/model.ts";

/** The grouping of the API for that of the page. */
export function jobGroupingOf(groupBy: string): string {
  return isLabel(groupBy) || groupBy === "schedule" ? groupBy : "prefix";
}

/** "prefix of job ids", "schedule" or "metadata team". */
export function jobGroupingNoun(groupBy: string): string {
  return jobGroupingOf(groupBy) === "prefix" ? "prefix of job ids" : wordsOf(groupBy).noun;
}

/** The name of a group in words. */
export function jobGroupLabel(groupBy: string, name: string): string {
  if (jobGroupingOf(groupBy) !== "prefix") return name || wordsOf(groupBy).unnamed;
  return name ? `${name}…` : "other jobs, and none";
}
