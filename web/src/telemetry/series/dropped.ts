// A sentence about data that are in no chart; "" if there are none.

import { formatCount, plural } from "../../format/numbers.ts";
import type { DroppedCounts } from "./model.ts";

const REASONS: [keyof Omit<DroppedCounts, "records" | "unknown" | "unreadFields">, string][] = [
  ["refused", "unreadable"],
  ["withoutTime", "without a timestamp"],
  ["outOfWindow", "outside the retention period"],
  ["ofTooManyNodes", "over the limit of nodes per blob"],
  ["ofTooManyTasks", "over the limit of tasks with counters per blob"],
  ["beyondLimit", "over the limit of series or events per node"],
  ["late", "out of order for a counter"],
  ["noNumbers", "not numeric"],
];
const MAX_NAMES = 3;

/** Omits fields without a series, as every agent's records have many. */
export function droppedText(dropped: DroppedCounts): string {
  const parts = REASONS.flatMap(([name, reason]) => (dropped[name] ? [`${formatCount(dropped[name])} ${reason}`] : []));
  const names = Object.entries(dropped.unknown).sort(([, one], [, other]) => other - one);
  if (names.length) {
    const first = names.slice(0, MAX_NAMES).map(([name]) => `“${name}”`);
    const more = names.length > MAX_NAMES ? ` and ${plural(names.length - MAX_NAMES, "other")}` : "";
    parts.push(
      `${formatCount(names.reduce((sum, [, number]) => sum + number, 0))} of measurements without numbers (${first.join(", ")}${more})`,
    );
  }
  return parts.length ? `Not charted, out of ${plural(dropped.records, "record")}: ${parts.join("; ")}.` : "";
}
