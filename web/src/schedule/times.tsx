// When a schedule's runs are, in words that tick.

import { parseDuration, seconds, span } from "../format/durations.ts";
import { serverClock } from "../time/clock.ts";
import { useTick } from "../time/useTick.ts";
import type { Schedule } from "./model.ts";

const MINUTE_MS = 60_000;

/** "in 12 min", "now" once it is due, "due 5 min ago" where nothing has told of it for a minute. */
export function Until({ at, none = "–" }: { at: string | null; none?: string }) {
  useTick();
  if (!at) return <span class="zero">{none}</span>;
  const left = Date.parse(at) - serverClock.now();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {left > 0 ? `in ${span(left)}` : left > -MINUTE_MS ? "now" : `due ${span(-left)} ago`}
    </time>
  );
}

/** "every 5 min", "once". */
export function rhythmOf({ schedule: { recurrenceInterval: interval } }: Schedule): string {
  return interval ? `every ${inWords(interval)}` : "once";
}

/** An ISO 8601 duration in words; itself where it is none of days and less. */
export function inWords(text: string): string {
  const length = parseDuration(text);
  return length > 0 ? seconds(length / 1000) : text;
}
