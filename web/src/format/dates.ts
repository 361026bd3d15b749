// Texts of times, in the user's time zone.

const TIME = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const EXACT_TIME = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

/** "21 Nov, 14:05". */
export function formatTime(at: number): string {
  return TIME.format(at);
}

/** "21 Nov, 14:05:09". */
export function formatExactTime(at: number): string {
  return EXACT_TIME.format(at);
}

/** The time zone of all times on the page. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
}
