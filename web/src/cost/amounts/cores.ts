// The mean cores of each day of a range, busy ones and others, as the points of a history.

import type { History, HistoryPoint } from "../../charts/history.ts";
import { formatRate, formatShare } from "../../format/numbers.ts";
import { weekdayText } from "./days.ts";
import type { AccountCost } from "./model.ts";

const DAY_MS = 86_400_000;

/** The mean cores of a day (UTC), today's so far; null where no usage is stored. */
export interface CorePoint extends HistoryPoint {
  cores: { total: number; busy: number } | null;
}

/** Days whose usage is stored, and those between them, as a history. */
export function coresOf({ from, to, asOf, steps, missingDays }: AccountCost): History<CorePoint> {
  const known = new Map(steps.map((step) => [step.from.slice(0, 10), step.cost]));
  const end = Math.min(Date.parse(to), Math.ceil(Date.parse(asOf ?? from) / DAY_MS) * DAY_MS);
  const value: CorePoint[] = [];
  for (let start = Date.parse(from); start < end; start += DAY_MS) {
    const date = new Date(start).toISOString().slice(0, 10);
    const seconds = (Math.min(start + DAY_MS, Date.parse(asOf ?? to)) - start) / 1000;
    const cost = known.get(date);
    const cores =
      missingDays.includes(date) || seconds <= 0
        ? null
        : { total: (cost?.coreSeconds ?? 0) / seconds, busy: (cost?.busyCoreSeconds ?? 0) / seconds };
    value.push({ time: new Date(start + DAY_MS).toISOString(), exact: cores && true, cores });
  }
  return { from, to: new Date(end).toISOString(), step: "P1D", value };
}

/** "Sun 29 Nov", the day that a point ends. */
export function dayOf({ time }: CorePoint): string {
  return weekdayText(new Date(Date.parse(time) - DAY_MS).toISOString());
}

/** "Sun 29 Nov: 12.4 of 40 cores busy in the mean, 31%". */
export function coresText(point: CorePoint): string {
  const { cores } = point;
  const day = dayOf(point);
  if (!cores) return `${day}: no usage stored`;
  const share = cores.total ? `, ${formatShare(cores.busy, cores.total)}` : "";
  return `${day}: ${formatRate(cores.busy)} of ${formatRate(cores.total)} cores busy in the mean${share}`;
}
