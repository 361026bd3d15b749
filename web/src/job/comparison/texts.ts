// What a comparison says in words, and the filters of the task list that show a group.

import { formatChance, formatCount, plural } from "../../format/numbers.ts";
import { spacedWords, visible } from "../../format/text.ts";
import type { TaskFilters } from "../../routing/jobView.ts";
import type { Comparison, ComparisonResult, Contrast } from "./model.ts";

const NAMES = new Map([
  ["vmSize", "VM size"],
  ["priority", "spot or dedicated"],
  ["nodeAgent", "Batch's node agent"],
  ["slots", "task slots"],
  ["startHour", "hour of the start"],
  ["hourOfDay", "hour of the day"],
  ["settingChange", "changed settings of the pool"],
  ["position", "position in the job"],
  ["gpuMemoryPeak", "memory peak of GPUs"],
  ["gpus", "GPUs used"],
]);

const RESULTS: Record<Exclude<ComparisonResult, "apart">, string> = {
  nothing: "Nothing sets the failed tasks apart from those that succeeded.",
  noneFailed: "No task has failed.",
  allFailed: "All tasks that ended have failed, so there are none to compare them with.",
  tooFew: "Too few tasks have failed or succeeded: at least four of each are compared.",
};

/** The sentence where no group was found; "" otherwise. */
export function resultText({ result }: Comparison): string {
  return result === "apart" ? "" : (RESULTS[result] ?? "");
}

/** "Compared by node, VM size and part 2 of the id; 1,876 groups tried." */
export function triedText({ attributes, triedGroups }: Comparison): string {
  if (!attributes.length) return "";
  const names = [...new Set(attributes.map(nameOf))];
  const last = names.pop() ?? "";
  const list = names.length ? `${names.join(", ")} and ${last}` : last;
  return `Compared by ${list}; ${plural(triedGroups, "group")} tried.`;
}

function nameOf(attribute: string): string {
  const part = /^idPart(\d+)$/.exec(attribute)?.[1];
  return part ? `part ${part} of the id` : (NAMES.get(attribute) ?? visible(spacedWords(attribute)));
}

/** "12 failed and 340 succeeded tasks", with the size of a sample. */
export function comparedText({ failed, succeeded, comparedFailed, comparedSucceeded }: Comparison): string {
  const isSample = comparedFailed < failed || comparedSucceeded < succeeded;
  const compared = `${formatCount(comparedFailed)} failed and ${formatCount(comparedSucceeded)} succeeded tasks`;
  return isSample ? `a sample of ${compared}` : compared;
}

/** "chance < 0.001": the corrected p-value. */
export function chanceText({ pValue }: Contrast): string {
  return `chance ${formatChance(pValue)}`;
}

const FILTERS = [
  "poolId",
  "nodeId",
  "slots",
  "startedFrom",
  "startedTo",
  "runTimeFrom",
  "runTimeTo",
] as const satisfies readonly (keyof TaskFilters)[];

/** "The first 20 of 312 failed tasks by id", or "The failed tasks" where all are listed. */
export function listedText({ tasks, failed }: Contrast): string {
  return tasks.length < failed
    ? `The first ${formatCount(tasks.length)} of ${formatCount(failed)} failed tasks by id:`
    : "The failed tasks:";
}

/** The filters that show the failed tasks of a group; null where the task list has none for it. */
export function filtersOf({ taskFilter }: Contrast): Partial<TaskFilters> | null {
  const names = Object.keys(taskFilter);
  const isKnown = names.length > 0 && names.every((name) => FILTERS.some((filter) => filter === name));
  return isKnown ? { show: "failed", ...taskFilter } : null;
}
