// Texts of durations, and the durations of the API.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TENTHS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** "12 s", "3 min", "5 h", "2 d"; negative durations count as 0. */
export function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** "0.4 s", "12 s", "3 min": as formatAge, but with tenths of a second below ten seconds. */
export function formatDuration(milliseconds: number): string {
  return milliseconds < 10_000 ? `${(Math.max(0, milliseconds) / 1000).toFixed(1)} s` : formatAge(milliseconds);
}

/** "0.4 s", "12 s", "3 min 20 s", "5 h 12 min", "2 d 3 h": at most two units. */
export function formatSeconds(value: number): string {
  if (value < 10) return `${TENTHS.format(value)} s`;
  const whole = Math.round(value);
  if (whole < 60) return `${whole} s`;
  const [large, name, small, rest] =
    whole < 3600 ? [60, "min", 1, "s"] : whole < 86_400 ? [3600, "h", 60, "min"] : [86_400, "d", 3600, "h"];
  const beside = Math.floor((whole % large) / small);
  return `${Math.floor(whole / large)} ${name}${beside ? ` ${beside} ${rest}` : ""}`;
}

/** An ISO 8601 duration in milliseconds; 0 for any other text. */
export function parseDuration(text: string): number {
  const parts = DURATION.exec(text) ?? [];
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  return days * DAY + hours * HOUR + minutes * MINUTE + seconds * 1000;
}
