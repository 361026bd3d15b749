// Which kept outputs of a cause are shown at once, and their texts.

import { formatCount, plural } from "../format/numbers.ts";
import type { FailureGroup, OutputExample, OutputGroup } from "./model.ts";

const SHOWN = 3;

interface ListedOutputs {
  shown: OutputGroup[];
  folded: OutputGroup[];
  /** The number of kept outputs in no group that the server lists. */
  unlisted: number;
}

export function listedOutputs({ kept, outputs }: FailureGroup): ListedOutputs {
  const unlisted = kept - outputs.reduce((sum, { count }) => sum + count, 0);
  return { shown: outputs.slice(0, SHOWN), folded: outputs.slice(SHOWN), unlisted: Math.max(0, unlisted) };
}

/** "5 kept, a sample of 312 failed tasks". Outputs stay kept when their tasks run again, so there may be more of them. */
export function sampleText({ kept, count }: FailureGroup): string {
  return kept < count ? `${formatCount(kept)} kept, a sample of ${plural(count, "failed task")}` : `${formatCount(kept)} kept`;
}

/** "1 node", "3 nodes", or "at least 10 nodes" where tasks ran on others, too. */
export function nodesText({ nodes, otherNodes }: OutputGroup): string {
  return `${otherNodes ? "at least " : ""}${plural(nodes.length, "node")}`;
}

/** How many minutes before the first and after the newest failure kills count, as clocks differ. */
const MARGIN_MINUTES = 10;

/** From when to when kills may have ended the tasks of a message. */
export function timesOfKills({ first, newest }: OutputGroup): { from: string; to: string } {
  const [from, to] = [minutesAfter(first.endTime, -MARGIN_MINUTES), minutesAfter(newest.endTime, MARGIN_MINUTES)];
  return { from, to };
}

function minutesAfter(time: string, minutes: number): string {
  return new Date(Date.parse(time) + minutes * 60_000).toISOString();
}

/** Joins the tasks of a message to the kernel's OOM kills; `truncated` where there are more of those. */
export function killsText({ tasks }: OutputGroup, kills: { taskId: string | null }[], truncated: boolean): string {
  const killed = new Set(kills.map(({ taskId }) => taskId?.toLowerCase()));
  const number = tasks.filter((task) => killed.has(task.toLowerCase())).length;
  if (number) {
    const some = `${truncated ? "at least " : ""}${formatCount(number)} of ${tasks.length === 1 ? "this task" : `these ${formatCount(tasks.length)} tasks`}`;
    return `The kernel killed processes of ${some} for lack of memory.`;
  }
  if (truncated) return "There are too many OOM kills to see whether these tasks are among them.";
  return "No node reported an OOM kill of these tasks; nodes with the node agent do.";
}

interface NamedExample extends OutputExample {
  name: string;
}

/** The first and the newest example, or the only one. */
export function examplesOf({ first, newest }: OutputGroup): NamedExample[] {
  if (first.taskId === newest.taskId) return [{ name: "Example", ...newest }];
  return [
    { name: "First", ...first },
    { name: "Newest", ...newest },
  ];
}
