// The time ranges of histories and charts.

import { serverClock } from "./clock.ts";

export const RANGES = ["1h", "6h", "24h", "7d", "90d"] as const;
export type Range = (typeof RANGES)[number];
export const RANGE_LABELS: Record<Range, string> = {
  "1h": "1 h",
  "6h": "6 h",
  "24h": "24 h",
  "7d": "7 d",
  "90d": "90 d",
};

/** The range that a parameter of an address names; null for any other text. */
export function rangeNamed(name: string | null): Range | null {
  return RANGES.find((range) => range === name) ?? null;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The length of each range, and the grid by which it moves on: an unchanged path can be answered by a 304. */
const LENGTHS: Record<Range, { length: number; grid: number }> = {
  "1h": { length: HOUR, grid: MINUTE },
  "6h": { length: 6 * HOUR, grid: 5 * MINUTE },
  "24h": { length: 24 * HOUR, grid: 15 * MINUTE },
  "7d": { length: 7 * 24 * HOUR, grid: 2 * HOUR },
  "90d": { length: 90 * 24 * HOUR, grid: 24 * HOUR },
};

/** A job or a pool; a pool's state is never "completed". */
interface RangeSubject {
  state: string;
  creationTime: string | null;
}

/** The default range: the shortest that covers the subject's age; for a live subject at most a day. */
export function rangeFor(subject: RangeSubject | null): Range {
  const age = serverClock.now() - Date.parse(subject?.creationTime ?? "");
  const found = RANGES.find((range) => age <= LENGTHS[range].length);
  if (!found || (subject?.state !== "completed" && !["1h", "6h"].includes(found))) return "24h";
  return found;
}

/**
 * The present beginning of a range as a time for the API, but not before `earliest` (milliseconds since 1970). It
 * moves on at most once in `minStep` milliseconds.
 */
export function beginOf(range: Range, earliest = -Infinity, minStep = 0): string {
  const { length } = LENGTHS[range];
  const grid = Math.max(LENGTHS[range].grid, minStep);
  const begin = Math.floor((serverClock.now() - length) / grid) * grid;
  return new Date(Math.max(begin, earliest)).toISOString().replace(".000Z", "Z");
}
