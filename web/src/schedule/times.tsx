// Texts about the times of a schedule's runs; updated every second.

import { formatAge, formatSeconds, parseDuration } from "../format/durations.ts";
import { serverClock } from "../time/clock.ts";
import { useTick } from "../time/useTick.ts";
import type { Schedule } from "./model.ts";

const MINUTE_MS = 60_000;

/** "in 12 min"; "now" when it is due; "due 5 min ago" if no poll has found the run for a minute. */
export function TimeUntil({ at }: { at: string | null }) {
  useTick();
  if (!at) return <span class="zero">–</span>;
  const left = Date.parse(at) - serverClock.now();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {left > 0 ? `in ${formatAge(left)}` : left > -MINUTE_MS ? "now" : `due ${formatAge(-left)} ago`}
    </time>
  );
}

/** "every 5 min", "once". */
export function recurrenceText({ schedule: { recurrenceInterval: interval } }: Schedule): string {
  return interval ? `every ${durationText(interval)}` : "once";
}

/** "1 h 30 min" for an ISO 8601 duration; unsupported ones are returned as they are. */
export function durationText(text: string): string {
  const length = parseDuration(text);
  return length > 0 ? formatSeconds(length / 1000) : text;
}
