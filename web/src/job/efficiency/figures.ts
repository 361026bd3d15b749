// Texts of the figures of a job's measured runs.

import { formatSeconds } from "../../format/durations.ts";
import { formatCount, formatShare, plural } from "../../format/numbers.ts";
import { valueText } from "../../telemetry/series/units.ts";
import type { Efficiency, Figure, FigureName, TaskGroup } from "./model.ts";

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

/** "frame-… on standard_d4s_v5, 24 runs". */
export function groupText({ prefix, vmSize, runs }: TaskGroup): string {
  const tasks = prefix === null ? "All tasks" : prefix ? `${prefix}…` : "Tasks whose ids begin with a digit";
  return `${tasks} on ${vmSize ?? "an unknown VM size"}, ${plural(runs, "run")}`;
}

/** "24 measured runs, 30 completed tasks". */
export function measuredText({ runs, completedTasks }: Efficiency): string {
  const measured = plural(runs, "measured run");
  return completedTasks === null ? measured : `${measured}, ${plural(completedTasks, "completed task")}`;
}

/** "of 20 runs" where a figure isn't known for all of a group; else "". */
export function knownText({ count }: Figure, { runs }: TaskGroup): string {
  return count < runs ? `of ${formatCount(count)} runs` : "";
}
