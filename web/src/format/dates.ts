// Texts of times, in the user's time zone.

const MOMENT = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const EXACT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** "21 Nov, 14:05". */
export function moment(at: number): string {
  return MOMENT.format(at);
}

/** "21 Nov, 14:05:09". */
export function exactMoment(at: number): string {
  return EXACT.format(at);
}

/** The time zone of all times on the page. */
export function zone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
}
