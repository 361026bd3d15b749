// Sentences and short texts of the cost page.

import { formatRate, formatShare, plural } from "../../format/numbers.ts";
import type { CostDay, CostPart } from "./bars.ts";
import { daysText, weekdayText } from "./days.ts";
import type { CostSummary } from "./model.ts";
import { formatMoney, microsOf } from "./money.ts";

const HOUR_SECONDS = 3600;

/** "12.4 h", "1,204 h". */
export function hoursText(seconds: number): string {
  return `${formatRate(seconds / HOUR_SECONDS)} h`;
}

/** "20%"; "–" of nothing. */
export function shareText(part: number, whole: number | null): string {
  return whole ? formatShare(part, whole) : "–";
}

/** Money that may be unknown: "no price" then. */
export function amountText(amount: number | null, currency: string): string {
  return amount === null ? "no price" : formatMoney(microsOf(amount), currency);
}

/** "about $90.00 by its end, $80.00 to $120.00", or why there is no forecast of the month. */
export function forecastText({ month, forecast, currency }: CostSummary): string {
  if (!forecast) return `${month === null ? "not known" : "so far"}; a forecast needs three full days`;
  const [amount, low, high] = [forecast.amount, forecast.low, forecast.high].map((each) => amountText(each, currency));
  return `about ${amount} by its end, ${low} to ${high}`;
}

/** A day's total in words: "no usage stored", "no price", or the amount. */
export function totalText({ total, isMissing }: CostDay, currency: string): string {
  if (isMissing) return "no usage stored";
  return total === null ? "no price" : formatMoney(total, currency);
}

/** What isn't in a day's total: "up to $3.00 more, not watched", "3 h without a price". */
export function doubtsOf({ total, uncertain, unpricedSeconds }: CostDay, currency: string): string[] {
  const unpriced = total === null ? `for ${hoursText(unpricedSeconds)} of nodes` : `${hoursText(unpricedSeconds)} without a price`;
  return [
    ...(uncertain > 0 ? [`up to ${formatMoney(uncertain, currency)} more, not watched`] : []),
    ...(unpricedSeconds > 0 ? [unpriced] : []),
  ];
}

/** A day of the chart for screen readers: "Sun 29 Nov: $12.00; render $10.00, train $2.00; 3 h without a price". */
export function dayReadout(day: CostDay, parts: readonly CostPart[], index: number, currency: string): string {
  const known = parts.filter(({ amounts }) => amounts[index]);
  return [
    `${weekdayText(day.date)}: ${totalText(day, currency)}`,
    known.map(({ label, amounts }) => `${label} ${formatMoney(amounts[index] ?? 0, currency)}`).join(", "),
    ...doubtsOf(day, currency),
  ]
    .filter(Boolean)
    .join("; ");
}

/** "No usage is stored for 3 days: 1 Nov, 3 Nov to 4 Nov."; "" where none is missing. */
export function missingText(days: readonly string[]): string {
  const missing = [...new Set(days)];
  return missing.length ? `No usage is stored for ${plural(missing.length, "day")}: ${daysText(missing)}.` : "";
}
