// Names of the phases of a start-up, and sentences about it.

import { formatSeconds } from "../../format/durations.ts";
import { formatCount, plural } from "../../format/numbers.ts";
import type { Phase, PreparationTasks, StartUp } from "./model.ts";

/** The parts of a start-up in the order of time, with their meaning. */
export const PARTS: readonly (readonly [phase: string, name: string, meaning: string])[] = [
  ["allocation", "Allocation", "from the start of the resize"],
  ["boot", "Boot", "until the machine has started"],
  ["setup", "Setup", "node agent, packages, container images"],
  ["startTask", "Start task", "its successful run"],
  ["wait", "Wait", "ready, but without a task"],
  ["preparation", "Preparation", "of the job, until the task starts"],
];
export const SUMS: typeof PARTS = [
  ["overhead", "Without the wait", "what each start costs"],
  ["total", "In all", "from the wish to the first task"],
];

/** "Half of 500 nodes took 3 min from the wish for them to their first task, 95% at most 4 min. …" */
export function summaryText({ nodes, phases, medianTaskSeconds, limited }: StartUp): string {
  const total = phases.find(({ phase }) => phase === "total");
  const known = total?.p50Seconds != null && total.p95Seconds != null;
  const first = known
    ? `Half of ${plural(total.nodes, "node")} took at most ${formatSeconds(total.p50Seconds ?? 0)} from the wish for them to ` +
      `their first task, 95% at most ${formatSeconds(total.p95Seconds ?? 0)}.`
    : `${plural(nodes, "node")} started; for none the whole way from the wish to the first task is known.`;
  const runs = medianTaskSeconds === null ? "" : ` Half of the tasks ran at most ${formatSeconds(medianTaskSeconds)}.`;
  return `${first}${runs}${limited ? " Of some days only the first 10,000 nodes count." : ""}`;
}

/** "By Batch's events half of 300 job preparation tasks ran at most 18 s, 95% at most 29 s." */
export function preparationText({ runs, p50Seconds, p95Seconds }: PreparationTasks): string {
  const tasks = plural(runs, "job preparation task");
  return `By Batch's events half of ${tasks} ran at most ${formatSeconds(p50Seconds)}, 95% at most ${formatSeconds(p95Seconds)}.`;
}

/** "12 s", "–" where no node has it. */
export function spanText(seconds: number | null): string {
  return seconds === null ? "–" : formatSeconds(seconds);
}

/** "12 s / 20 s": the median and the 95th percentile. */
export function quantilesText({ p50Seconds, p95Seconds }: Phase): string {
  return p50Seconds === null ? "–" : `${formatSeconds(p50Seconds)} / ${spanText(p95Seconds)}`;
}

/** "3 of 500 nodes: The start task failed." */
export function unknownText(nodes: number, of: number, detail: string): string {
  return `${formatCount(nodes)} of ${plural(of, "node")}: ${detail}`;
}
