// The bars of the cost chart: a day each, with the costs of the largest groups stacked.

import type { Tick } from "../../charts/scales.ts";
import { CLASSES, classNamed } from "./classes.ts";
import { dayText } from "./days.ts";
import { groupLabel } from "./groups.ts";
import type { AccountCost, CostGroup, CostStep } from "./model.ts";
import { type Micros, microsOf } from "./money.ts";

const DAY = 86_400_000;
const MAX_PARTS = 7;
/** Fills with stripes, so that neighbours in a bar differ by more than their hue. */
const STRIPED: readonly string[] = ["group-1", "group-3", "group-5", "failed", "idle-slots", "start-task", "unattributed"];

/** A day (UTC). */
export interface CostDay {
  /** "2026-11-29". */
  date: string;
  /** Null where nothing is known: no usage is stored, or none of it has a price. */
  total: Micros | null;
  /** The price of time in which nobody watched, on top of the total. */
  uncertain: Micros;
  unpricedSeconds: number;
  isMissing: boolean;
}

/** A group, or all others together, with its amount on each day; `fill` names its colour. */
export interface CostPart {
  label: string;
  fill: string;
  amounts: Micros[];
  total: Micros;
}

/** The parts are in the order of a bar, the first at the bottom. */
export interface CostBars {
  days: CostDay[];
  parts: CostPart[];
}

/** A part of a bar: from and to which amount it reaches. */
export interface Block {
  part: CostPart;
  from: Micros;
  to: Micros;
}

export function barsOf(cost: AccountCost): CostBars {
  const days = daysOf(cost);
  const groups = cost.value.filter((group) => (group.cost.amount ?? 0) > 0);
  const byClass = cost.groupBy === "class";
  const shown = byClass ? classesOf(groups) : groups.slice(0, groups.length > MAX_PARTS ? MAX_PARTS - 1 : MAX_PARTS);
  const parts = shown.map((group, index) => {
    const fill = byClass ? (classNamed(group.name).fill ?? "other") : `group-${index}`;
    return partOf(groupLabel(cost.groupBy, group.name), fill, amountsOf(group.steps, days));
  });
  if (shown.length < groups.length) {
    const others = days.map(({ total }, index) => Math.max(0, (total ?? 0) - sumAt(parts, index)));
    parts.push(partOf(`${groups.length - shown.length} others`, "other", others));
  }
  return { days, parts };
}

/** The blocks of a day's bar from the bottom up; parts that cost nothing have none. */
export function blocksOf(parts: readonly CostPart[], index: number): Block[] {
  let to = 0;
  return parts.flatMap((part) => {
    const from = to;
    to += part.amounts[index] ?? 0;
    return to > from ? [{ part, from, to }] : [];
  });
}

/** The height of the highest bar, with uncertain time. */
export function maxOf({ days }: CostBars): Micros {
  return days.reduce((most, { total, uncertain }) => Math.max(most, (total ?? 0) + uncertain), 0);
}

export function isStriped(fill: string): boolean {
  return STRIPED.includes(fill);
}

/** At most about `tickCount` labels of days, by their index, the last day among them. */
export function dayTicks(days: readonly CostDay[], tickCount: number): Tick[] {
  const every = Math.max(1, Math.ceil(days.length / Math.max(1, tickCount)));
  return days.flatMap(({ date }, index) =>
    (days.length - 1 - index) % every ? [] : [{ at: index, label: dayText(date), strong: false }],
  );
}

function daysOf({ from, to, steps, missingDays }: AccountCost): CostDay[] {
  const costs = new Map(steps.map((step) => [dateOf(Date.parse(step.from)), step.cost]));
  const first = Math.floor(Date.parse(from) / DAY);
  const last = Math.ceil(Date.parse(to) / DAY);
  return Array.from({ length: Math.max(0, last - first) }, (_, index) => {
    const date = dateOf((first + index) * DAY);
    const cost = costs.get(date);
    const isMissing = !cost && missingDays.includes(date);
    const amount = cost ? cost.amount : isMissing ? null : 0;
    return {
      date,
      total: amount === null ? null : microsOf(amount),
      uncertain: microsOf(cost?.uncertainAmount ?? 0),
      unpricedSeconds: cost?.unpricedSeconds ?? 0,
      isMissing,
    };
  });
}

function dateOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function amountsOf(steps: readonly CostStep[], days: readonly CostDay[]): Micros[] {
  const byDate = new Map(steps.map(({ from, cost }) => [dateOf(Date.parse(from)), microsOf(cost.amount ?? 0)]));
  return days.map(({ date }) => byDate.get(date) ?? 0);
}

/** The classes with colours of their own, in the order of bars. */
function classesOf(groups: readonly CostGroup[]): CostGroup[] {
  const coloured = CLASSES.filter(({ fill }) => fill);
  return coloured.flatMap(({ name }) => groups.filter((group) => group.name === name));
}

function partOf(label: string, fill: string, amounts: Micros[]): CostPart {
  return { label, fill, amounts, total: amounts.reduce((sum, amount) => sum + amount, 0) };
}

function sumAt(parts: readonly CostPart[], index: number): Micros {
  return parts.reduce((sum, { amounts }) => sum + (amounts[index] ?? 0), 0);
}
