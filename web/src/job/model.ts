// The JSON of one job's parts, as far as the page shows it. Every string comes from outside and is only ever text.

import type { TaskCounts } from "../model";

/** At the end of a step; without counts nobody asked Batch in that step. */
export interface HistoryPoint {
  time: string;
  asOf: string | null;
  exact: boolean | null;
  taskCounts: TaskCounts | null;
}

export interface History {
  from: string;
  to: string;
  /** An ISO 8601 duration, as "PT1M". */
  step: string;
  value: HistoryPoint[];
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
  /** Tasks that failed elsewhere, or on no node. */
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

export interface Task {
  id: string;
  state: string;
  result: "success" | "failure" | null;
  creationTime: string | null;
  startTime: string | null;
  endTime: string | null;
  exitCode: number | null;
  failureCategory: string | null;
  failureCode: string | null;
  retryCount: number;
  requeueCount: number;
  poolId: string | null;
  nodeId: string | null;
}

export interface Run {
  task: string;
  start: string;
  end: string | null;
  result: "success" | "failure" | null;
  slots: number;
}

export interface Bucket {
  start: string;
  end: string;
  tasks: number;
  busySlotSeconds: number;
  failed: number;
}

/** Without an id where tasks tell of no node. */
export interface TimelineNode {
  poolId: string | null;
  nodeId: string | null;
  runs?: Run[];
  buckets?: Bucket[];
  busySlotSeconds: number;
}

export interface Timeline {
  asOf: string | null;
  from: string;
  to: string;
  nodes: TimelineNode[];
  otherNodes: number;
  aggregated: boolean;
}

export type Severity = "blocking" | "limiting" | "info";
export type Evidence = string | number | boolean | string[] | null;

/** One cause, or a thing worth knowing: what is so, what shows it, and what to do. */
export interface Finding {
  code: string;
  severity: Severity;
  title: string;
  detail: string;
  /** By name; spans of time in seconds, times in ISO 8601. */
  evidence: Record<string, Evidence>;
  advice: string;
  since: string | null;
}

/** Why a job doesn't run, or no faster; the first finding is the cause. */
export interface Explanation {
  asOf: string | null;
  running: boolean;
  summary: string;
  findings: Finding[];
  unknown: string[];
}
