// The ranges of time that histories and charts show.

import { serverClock } from "./clock.ts";

export const RANGES = ["1h", "6h", "24h", "7d", "90d"] as const;
export type Range = (typeof RANGES)[number];
export const RANGE_WORDS: Record<Range, string> = { "1h": "1 h", "6h": "6 h", "24h": "24 h", "7d": "7 d", "90d": "90 d" };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How long each range is, and by what grid it moves on: a question that stays the same is answered by a 304. */
const LENGTHS: Record<Range, { length: number; grid: number }> = {
  "1h": { length: HOUR, grid: MINUTE },
  "6h": { length: 6 * HOUR, grid: 5 * MINUTE },
  "24h": { length: 24 * HOUR, grid: 15 * MINUTE },
  "7d": { length: 7 * 24 * HOUR, grid: 2 * HOUR },
  "90d": { length: 90 * 24 * HOUR, grid: 24 * HOUR },
};

/** A job or a pool; of a pool the state never says that it is over. */
interface Aged {
  state: string;
  creationTime: string | null;
}

/** The range that shows most of what an address asks no range of: as old as it is, of a live one a day at most. */
export function rangeFor(subject: Aged | null): Range {
  const age = serverClock.now() - Date.parse(subject?.creationTime ?? "");
  const found = RANGES.find((range) => age <= LENGTHS[range].length);
  if (!found || (subject?.state !== "completed" && !["1h", "6h"].includes(found))) return "24h";
  return found;
}

/**
 * Where a range begins by now, but not before `earliest` (milliseconds since 1970), as a time that the API reads. It
 * moves on once in `least` milliseconds at most.
 */
export function beginOf(range: Range, earliest = -Infinity, least = 0): string {
  const { length } = LENGTHS[range];
  const grid = Math.max(LENGTHS[range].grid, least);
  const begin = Math.floor((serverClock.now() - length) / grid) * grid;
  return new Date(Math.max(begin, earliest)).toISOString().replace(".000Z", "Z");
}
