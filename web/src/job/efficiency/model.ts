// The JSON of a job's efficiency. Every string comes from outside and is only shown as text.

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

export interface TaskGroup {
  /** Null: all tasks. */
  prefix: string | null;
  vmSize: string | null;
  runs: number;
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
  currency: string;
  cost: number | null;
  groups: TaskGroup[];
  findings: EfficiencyFinding[];
  /** A sentence why nothing is said of offers. */
  reason: string | null;
}
