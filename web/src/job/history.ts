// A job's history: its points as numbers by task state, and as text.

import { TASK_STATES, type TaskCounts, type TaskState } from "../api/model.ts";
import { formatTime } from "../format/dates.ts";
import { formatCount } from "../format/numbers.ts";
import { taskStateLabel } from "../ui/tiles/taskStates.ts";
import type { JobPoint } from "./model.ts";

export function countsOf({ taskCounts }: JobPoint): Record<TaskState, number> | null {
  return taskCounts;
}

/** The time of a point, and whether its counts are known and exact. */
export function pointDetails({ time, taskCounts, exact }: JobPoint): string {
  const doubt = !taskCounts ? ", not polled" : exact === true ? "" : ", not confirmed as exact";
  return formatTime(Date.parse(time)) + doubt;
}

export function pointText({ time, taskCounts }: JobPoint): string {
  const at = formatTime(Date.parse(time));
  if (!taskCounts) return `${at}: not polled`;
  const states = TASK_STATES.map((state) => `${formatCount(taskCounts[state])} ${taskStateLabel(state)}`);
  return `${at}: ${states.join(", ")}`;
}

/** Returns a function from a point to one of its counts, as text. */
export function countText(name: keyof TaskCounts): (point: JobPoint) => string {
  return ({ taskCounts }) => (taskCounts ? formatCount(taskCounts[name]) : "");
}
