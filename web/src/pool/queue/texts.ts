// Sentences and texts about the queue of a pool.

import { formatSeconds } from "../../format/durations.ts";
import { formatCount, formatRate, formatShare, plural } from "../../format/numbers.ts";
import type { Queue, QueuedJob } from "./model.ts";

const ORDERS = {
  none: "jobs share slots equally",
  creationtime: "the oldest job goes first",
  unknown: "it isn't known which job goes first",
};

/** "412 tasks of 2 jobs wait for slots; none is free. …" */
export function queueText({ count, waitingTasks, freeSlots, jobDefaultOrder, tasksEndedPerMinute }: Queue): string {
  const wait = `${plural(waitingTasks, "task")} of ${plural(count, "job")} ${waitingTasks === 1 ? "waits" : "wait"} for slots`;
  const free = freeSlots === null ? "" : `; ${freeSlots ? `${formatCount(freeSlots)} ${freeSlots === 1 ? "is" : "are"}` : "none is"} free`;
  const equal = ORDERS[jobDefaultOrder ?? "unknown"];
  const rate = tasksEndedPerMinute ? ` Lately ${formatRate(tasksEndedPerMinute)} tasks ended per minute.` : "";
  return `${wait}${free}. Among equal priorities ${equal}.${rate}`;
}

/** "40 of 50": the tasks that would take free slots now, of all waiting ones. */
export function readyText({ readyTasks, waitingTasks }: QueuedJob): string {
  return readyTasks === null ? "not known" : `${formatCount(readyTasks)} of ${formatCount(waitingTasks)}`;
}

/** "25%"; "all" of what lower ranks leave; "–" where it is unknown or nothing can start. */
export function shareText({ share }: QueuedJob): string {
  if (share === null) return "–";
  return share === 1 ? "all" : formatShare(share, 1);
}

/** "in 3 min 20 s"; "now" once the time has passed. */
export function startText(expected: string, now: number): string {
  const seconds = (Date.parse(expected) - now) / 1000;
  return seconds > 0 ? `in ${formatSeconds(Math.ceil(seconds))}` : "now";
}
