// The JSON of a job's efficiency. Every string comes from outside and is only shown as text.

import type { UsedShares } from "../../api/model.ts";
import type { Finding } from "../../ui/findings/model.ts";

export type FigureName = "duration" | "cores" | "memory" | "diskRate" | "threads" | "gpus" | "gpuMemory";

/** The value at one end, and a task that has it. */
export interface Extreme {
  value: number;
  task: string;
}

/** The distribution of a figure over the `count` runs for which it is known. */
export interface Figure {
  name: FigureName;
  count: number;
  mean: number;
  p50: number;
  p95: number;
  lowest: Extreme;
  highest: Extreme;
  /** What the slots of a task offer of it; null if unknown. */
  offered: number | null;
}

/** A `followed` run had another one of the same task after it; the tasks of `unknown` runs aren't stored. */
export type RunResult = "success" | "failure" | "followed" | "unknown";

export interface TaskGroup {
  /** Null: all tasks, or groups by exit. */
  prefix: string | null;
  /** Null: groups by prefix. */
  result: RunResult | null;
  exitCode: number | null;
  vmSize: string | null;
  runs: number;
  /** Whether so many runs are enough to conclude from. */
  enough: boolean;
  figures: Figure[];
}

export interface EfficiencyFinding extends Finding {
  /** The money that its advice would have saved; null if unknown. */
  amount: number | null;
}

export interface Efficiency {
  asOf: string | null;
  runs: number;
  /** Null before the job's first read. */
  completedTasks: number | null;
  /** So many runs are enough to conclude from, or so many where they are of all tasks of the job. */
  enoughRuns: number;
  enoughOfAll: number;
  currency: string;
  cost: number | null;
  usedShares: UsedShares;
  /** The time limit of tasks: `reason` is a sentence why it isn't known. Null of too few runs. */
  taskLimit: { reason: string | null } | null;
  groups: TaskGroup[];
  findings: EfficiencyFinding[];
  /** A sentence why nothing is said of offers. */
  reason: string | null;
}
