// Groups of costs: their names in words, and the pages behind them.

import { visible } from "../../format/text.ts";
import { addressOfDetail } from "../../routing/routes.ts";
import { classNamed } from "./classes.ts";
import { isLabel, type PlainGrouping } from "./model.ts";

/** What a group is, and what one without a name is. */
interface GroupingWords {
  noun: string;
  unnamed: string;
}

export const GROUPING_WORDS: Record<PlainGrouping, GroupingWords> = {
  pool: { noun: "pool", unnamed: "no pool" },
  job: { noun: "job", unnamed: "no job" },
  schedule: { noun: "schedule", unnamed: "no job schedule" },
  vmSize: { noun: "VM size", unnamed: "unknown size" },
  class: { noun: "class", unnamed: "no class" },
};

const TABS = { pool: "pools", job: "jobs", schedule: "schedules" } as const;

/** The name of a group, in words for cost classes and groups without a name. */
export function groupLabel(groupBy: string, name: string): string {
  if (groupBy === "class" && name) return classNamed(name).label;
  return name || wordsOf(groupBy).unnamed;
}

export function wordsOf(groupBy: string): GroupingWords {
  if (isLabel(groupBy)) return { noun: visible(groupBy.replace(":", " ")), unnamed: "no value" };
  return GROUPING_WORDS[groupBy as PlainGrouping] ?? { noun: "group", unnamed: "no name" };
}

/** The address of the page about a group; null where there is none. */
export function addressOfGroup(groupBy: string, account: string, name: string): string | null {
  const tab = TABS[groupBy as keyof typeof TABS];
  return tab && name ? addressOfDetail(tab, account, name) : null;
}
