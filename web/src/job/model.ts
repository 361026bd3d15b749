// The JSON of a job's history and failures. Every string comes from outside and is only shown as text.

import type { TaskCounts } from "../api/model.ts";

/** The counts at the end of a step; null if no poll ran in that step. */
export interface JobPoint {
  time: string;
  asOf: string | null;
  exact: boolean | null;
  taskCounts: TaskCounts | null;
}

export interface FailureGroup {
  id: string;
  category: string | null;
  code: string | null;
  exitCode: number | null;
  count: number;
  firstTime: string | null;
  lastTime: string | null;
  nodes: { poolId: string | null; nodeId: string; count: number }[];
  /** Tasks that failed on other nodes, or on none. */
  otherNodes: number;
  tasks: string[];
  advice: string | null;
}

export interface Failures {
  asOf: string | null;
  /** Null before the first read. */
  failed: number | null;
  groups: FailureGroup[];
  ungrouped: number;
}
