// What isn't in the charts, in one sentence; "" where everything is.

import { count, plural } from "../../format/numbers.ts";
import type { LeftOut } from "./model.ts";

const WAYS: [keyof Omit<LeftOut, "records" | "unknown" | "unreadFields">, string][] = [
  ["refused", "unreadable"],
  ["withoutTime", "without a timestamp"],
  ["outOfWindow", "outside the retention period"],
  ["ofTooManyNodes", "over the limit of nodes per blob"],
  ["ofTooManyTasks", "over the limit of tasks with counters per blob"],
  ["beyondLimit", "over the limit of series per node"],
  ["late", "out of order for a counter"],
  ["noNumbers", "not numeric"],
];
const MOST_NAMES = 3;

/** Fields without a series are many in any agent's records, and nothing to tell of. */
export function leftOutInWords(found: LeftOut): string {
  const parts = WAYS.flatMap(([name, words]) => (found[name] ? [`${count(found[name])} ${words}`] : []));
  const names = Object.entries(found.unknown).sort(([, one], [, other]) => other - one);
  if (names.length) {
    const some = names.slice(0, MOST_NAMES).map(([name]) => `“${name}”`);
    const more = names.length > MOST_NAMES ? ` and ${plural(names.length - MOST_NAMES, "other")}` : "";
    parts.push(`${count(names.reduce((sum, [, number]) => sum + number, 0))} of unknown measurements (${some.join(", ")}${more})`);
  }
  return parts.length ? `Not charted, out of ${plural(found.records, "record")}: ${parts.join("; ")}.` : "";
}
