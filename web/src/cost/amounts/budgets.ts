// Monthly budgets in words, and as a line of the chart.

import { formatShare } from "../../format/numbers.ts";
import { dayText } from "./days.ts";
import type { Budget } from "./model.ts";
import { type Micros, microsOf } from "./money.ts";
import { amountText } from "./texts.ts";

/** "the account", "pool render", "schedule nightly". */
export function scopeText({ scope, target }: Budget): string {
  return target === null ? "the account" : `${scope} ${target}`;
}

/** "$120.00 of $750.00 spent this month, 16%". */
export function spentText({ spent, amount, currency }: Budget): string {
  const whole = amountText(amount, currency);
  return spent === null ? whole : `${amountText(spent, currency)} of ${whole} spent this month, ${formatShare(spent, amount)}`;
}

/** What follows from it, as a sentence. */
export function stateText({ state, forecast, exceededOn, currency, reason, unpricedSeconds }: Budget): string {
  const about = forecast && `about ${amountText(forecast.amount, currency)} at the month's end`;
  const doubt = unpricedSeconds > 0 ? " Some of its nodes have no price, so it may be more." : "";
  if (reason || state === "unknown") return reason ?? "What was spent isn't known.";
  if (state === "exceeded") return `Exceeded${exceededOn ? ` on ${dayText(exceededOn)}` : ""}${about ? `; ${about}` : ""}.${doubt}`;
  if (state === "willExceed") return `Will be exceeded${exceededOn ? ` on ${dayText(exceededOn)}` : ""}: ${about}.${doubt}`;
  return `${about ? `Within the budget: ${about}.` : "Within the budget so far; a forecast needs three full days."}${doubt}`;
}

/** The account's budget for a day, null without one: the smallest monthly amount over the days of the month. */
export function dailyBudget(budgets: readonly Budget[], currency: string, now: number): Micros | null {
  const own = budgets.filter((each) => each.scope === "account" && each.currency === currency);
  if (!own.length) return null;
  const today = new Date(now);
  const days = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 0)).getUTCDate();
  return Math.min(...own.map(({ amount }) => microsOf(amount))) / days;
}
