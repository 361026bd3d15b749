// What isn't in the charts, in one sentence; "" where everything is.

import { count, plural } from "../../format/numbers.ts";
import type { LeftOut } from "./model.ts";

const WAYS: [keyof Omit<LeftOut, "records" | "unknown" | "unreadFields">, string][] = [
  ["refused", "couldn't be read"],
  ["withoutTime", "without a time"],
  ["outOfWindow", "of a time that isn't kept"],
  ["ofTooManyNodes", "of too many nodes in one blob"],
  ["ofTooManyTasks", "with counters of too many tasks in one blob"],
  ["beyondLimit", "of series beyond a node's limit"],
  ["late", "late for a counter"],
  ["noNumbers", "that are no numbers"],
];
const MOST_NAMES = 3;

/** Fields without a series are many in any agent's records, and nothing to tell of. */
export function leftOutInWords(found: LeftOut): string {
  const parts = WAYS.flatMap(([name, words]) => (found[name] ? [`${count(found[name])} ${words}`] : []));
  const names = Object.entries(found.unknown).sort(([, one], [, other]) => other - one);
  if (names.length) {
    const some = names.slice(0, MOST_NAMES).map(([name]) => `“${name}”`);
    const more = names.length > MOST_NAMES ? ` and ${plural(names.length - MOST_NAMES, "other")}` : "";
    parts.push(`${count(names.reduce((sum, [, number]) => sum + number, 0))} that no chart knows (${some.join(", ")}${more})`);
  }
  return parts.length ? `Left out of ${plural(found.records, "record")}: ${parts.join("; ")}.` : "";
}
