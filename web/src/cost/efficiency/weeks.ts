// Used shares and waste of the largest groups by week.

import { dayText } from "../amounts/days.ts";
import { formatMoney, type Micros, microsOf } from "../amounts/money.ts";
import { jobGroupLabel } from "./groupings.ts";
import type { AccountEfficiency, EfficiencyGroup } from "./model.ts";

const DAY_MS = 86_400_000;
export const WEEKS = 12;
const MAX_GROUPS = 7;

export type Resource = "cpu" | "memory" | "gpu";
export const RESOURCES: readonly [Resource, string][] = [
  ["cpu", "CPU"],
  ["memory", "Memory"],
  ["gpu", "GPU"],
];

/** A week (UTC) by the times of its first and its last day. */
export interface Week {
  first: string;
  last: string;
}

/** A group with its values by week; `fill` names its colour. Shares are null of too few runs, amounts without a price. */
export interface WeekGroup {
  label: string;
  fill: string;
  shares: (number | null)[];
  wasted: (Micros | null)[];
}

export interface WeeklyEfficiency {
  weeks: Week[];
  groups: WeekGroup[];
}

/** The start of the first of the weeks that end with the day of a time. */
export function firstWeekAt(now: number): string {
  const tomorrow = Math.floor(now / DAY_MS) + 1;
  return new Date((tomorrow - 7 * WEEKS) * DAY_MS).toISOString();
}

/** The weeks from the first one with values on; groups with measured runs, the dearest first. */
export function weeksOf({ from, to, value }: AccountEfficiency, groupBy: string, resource: Resource): WeeklyEfficiency {
  const measured = value.filter(({ sums }) => sums.measuredRuns > 0).slice(0, MAX_GROUPS);
  const starts: number[] = [];
  for (let start = Date.parse(from); start < Date.parse(to); start += 7 * DAY_MS) starts.push(start);
  const known = new Set(measured.flatMap(({ steps }) => steps.map((step) => Date.parse(step.from))));
  const shown = starts.slice(Math.max(0, starts.findIndex((start) => known.has(start))));
  const end = Date.parse(to);
  return {
    weeks: shown.map((start) => ({
      first: new Date(start).toISOString(),
      last: new Date(Math.min(start + 7 * DAY_MS, end) - DAY_MS).toISOString(),
    })),
    groups: measured.map((group, index) => ({
      label: jobGroupLabel(groupBy, group.name),
      fill: `group-${index}`,
      ...valuesOf(group, shown, resource),
    })),
  };
}

function valuesOf({ steps }: EfficiencyGroup, starts: number[], resource: Resource): Pick<WeekGroup, "shares" | "wasted"> {
  const sums = new Map(steps.map((step) => [Date.parse(step.from), step.sums]));
  const amountOf = (amount: number | null | undefined) => (amount === null || amount === undefined ? null : microsOf(amount));
  return {
    shares: starts.map((start) => sums.get(start)?.usedShares[resource] ?? null),
    wasted: starts.map((start) => amountOf(sums.get(start)?.wastedAmount)),
  };
}

/** Those of the resources that any group has a share of. */
export function knownResources({ value }: AccountEfficiency): Resource[] {
  const sums = value.flatMap(({ steps }) => steps.map((step) => step.sums.usedShares));
  return RESOURCES.flatMap(([name]) => (sums.some((shares) => shares[name] !== null) ? [name] : []));
}

/** The last week in which any group has a share, else the last one. */
export function latestWeek({ weeks, groups }: WeeklyEfficiency): number {
  const known = weeks.map((_, index) => groups.some(({ shares }) => (shares[index] ?? null) !== null));
  return known.includes(true) ? known.lastIndexOf(true) : weeks.length - 1;
}

/** The height of the highest bar. */
export function maxWasted({ weeks, groups }: WeeklyEfficiency): Micros {
  const sums = weeks.map((_, index) => groups.reduce((sum, { wasted }) => sum + (wasted[index] ?? 0), 0));
  return Math.max(0, ...sums);
}

/** "16 Nov to 22 Nov". */
export function weekText({ first, last }: Week): string {
  return first === last ? dayText(first) : `${dayText(first)} to ${dayText(last)}`;
}

/** "24%", "–" where it isn't known. */
export function weekShareText(share: number | null | undefined): string {
  return share === null || share === undefined ? "–" : `${Math.round(share * 100)}%`;
}

/** "$12.00", "–" without a price. */
export function wastedText(amount: Micros | null | undefined, currency: string): string {
  return amount === null || amount === undefined ? "–" : formatMoney(amount, currency);
}

/** A week of the chart for screen readers: "16 Nov to 22 Nov: render-… used 24%, wasted $12.00; try-… used –, wasted –". */
export function weekReadout({ weeks, groups }: WeeklyEfficiency, index: number, currency: string): string {
  const week = weeks[index];
  if (!week) return "";
  const parts = groups.map(
    ({ label, shares, wasted }) =>
      `${label} used ${weekShareText(shares[index])}, wasted ${wastedText(wasted[index], currency)}`,
  );
  return `${weekText(week)}: ${parts.join("; ")}`;
}
