// Texts of days in UTC, such as "2026-11-29".

const DAY_MS = 86_400_000;
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

/** "29 Nov". */
export function dayText(date: string): string {
  return DAY.format(Date.parse(date));
}

/** "Sun 29 Nov". */
export function weekdayText(date: string): string {
  return WEEKDAY.format(Date.parse(date)).replace(",", "");
}

/** "1 Nov, 3 Nov to 5 Nov": consecutive days as spans. */
export function daysText(dates: readonly string[]): string {
  const spans: { from: string; to: string }[] = [];
  for (const date of [...dates].sort()) {
    const last = spans.at(-1);
    if (last && Date.parse(date) - Date.parse(last.to) === DAY_MS) last.to = date;
    else spans.push({ from: date, to: date });
  }
  return spans.map(({ from, to }) => (from === to ? dayText(from) : `${dayText(from)} to ${dayText(to)}`)).join(", ");
}
