// Texts of the figures of a job's measured runs.

import { formatSeconds } from "../../format/durations.ts";
import { formatCount, formatShare, plural } from "../../format/numbers.ts";
import { sharesText } from "../../format/shares.ts";
import { valueText } from "../../telemetry/series/units.ts";
import type { Efficiency, Figure, FigureName, RunResult, TaskGroup } from "./model.ts";

const LABELS: Record<FigureName, string> = {
  duration: "Duration",
  cores: "Busy cores, on average",
  memory: "Memory, peak",
  diskRate: "Disks read and written",
  threads: "Threads",
  gpus: "Busy GPUs, on average",
  gpuMemory: "GPU memory, peak",
};
const NUMBERS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

export function labelOf(name: FigureName): string {
  return LABELS[name];
}

export function figureText(name: FigureName, value: number): string {
  if (name === "duration") return formatSeconds(value);
  if (name === "memory" || name === "gpuMemory") return valueText(value, "bytes");
  return name === "diskRate" ? valueText(value, "bytes a second") : NUMBERS.format(value);
}

/** The share of the offer that 95 % of the runs don't exceed, as text; "" where the offer is unknown. */
export function usedText({ p95, offered }: Figure): string {
  return offered ? formatShare(p95, offered) : "";
}

const RESULTS: Record<RunResult, string> = {
  success: "Succeeded",
  failure: "Failed",
  followed: "Followed by another run of the task",
  unknown: "Of tasks that aren't stored any more",
};

/** "frame-… on standard_d4s_v5, 24 runs", or "Failed with exit code 137 on …". */
export function groupText({ prefix, result, exitCode, vmSize, runs }: TaskGroup): string {
  const tasks = prefix === null ? "All tasks" : prefix ? `${prefix}…` : "Tasks whose ids begin with a digit";
  const exit = result && (exitCode === null ? RESULTS[result] : `${RESULTS[result]} with exit code ${exitCode}`);
  return `${exit ?? tasks} on ${vmSize ?? "an unknown VM size"}, ${plural(runs, "run")}`;
}

/** The rule of how many runs are enough. */
export function enoughText({ enoughRuns, enoughOfAll }: Efficiency): string {
  return `Advice needs ${enoughRuns} measured runs on a VM size, or ${enoughOfAll} where these are all tasks of the job.`;
}

/** "24 measured runs, 30 completed tasks". */
export function measuredText({ runs, completedTasks }: Efficiency): string {
  const measured = plural(runs, "measured run");
  return completedTasks === null ? measured : `${measured}, ${plural(completedTasks, "completed task")}`;
}

/** "CPU 23%, memory 13% used, 24 measured runs, 30 completed tasks". */
export function noteText(efficiency: Efficiency): string {
  const shares = sharesText(efficiency.usedShares);
  return shares ? `${shares} used, ${measuredText(efficiency)}` : measuredText(efficiency);
}

/** "of 20 runs" where a figure isn't known for all of a group; else "". */
export function knownText({ count }: Figure, { runs }: TaskGroup): string {
  return count < runs ? `of ${formatCount(count)} runs` : "";
}
