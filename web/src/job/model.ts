// The JSON of a job's history and failures. Every string comes from outside and is only shown as text.

import type { TaskCounts } from "../api/model.ts";

/** The counts at the end of a step; null if no poll ran in that step. */
export interface JobPoint {
  time: string;
  asOf: string | null;
  exact: boolean | null;
  taskCounts: TaskCounts | null;
}

/** A failed task whose output was kept, and when it ended. */
export interface OutputExample {
  taskId: string;
  endTime: string;
}

/** Kept outputs that say the same; `title` is their signature for people, `lines` are the first example's. */
export interface OutputGroup {
  id: string;
  title: string;
  count: number;
  lines: string[];
  advice: string | null;
  /** That of the well-known error that they show, such as "outOfMemory". */
  failureCategory: string | null;
  /** Those with most of its tasks; the server lists ten at most. */
  nodes: FailingNode[];
  /** Tasks that ran on other nodes. */
  otherNodes: number;
  /** The ids of those that ended first. */
  tasks: string[];
  first: OutputExample;
  newest: OutputExample;
}

/** How many failed tasks ran on a node. */
export interface FailingNode {
  poolId: string | null;
  nodeId: string;
  count: number;
}

export interface FailureGroup {
  id: string;
  category: string | null;
  code: string | null;
  exitCode: number | null;
  count: number;
  firstTime: string | null;
  lastTime: string | null;
  nodes: FailingNode[];
  /** Tasks that failed on other nodes, or on none. */
  otherNodes: number;
  tasks: string[];
  advice: string | null;
  /** The number of its tasks whose outputs were kept. */
  kept: number;
  /** The most frequent first; the server lists ten at most. */
  outputs: OutputGroup[];
}

export interface Failures {
  asOf: string | null;
  /** Null before the first read. */
  failed: number | null;
  groups: FailureGroup[];
  ungrouped: number;
}
