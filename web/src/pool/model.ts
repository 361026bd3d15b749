// The JSON of pools and nodes, as far as the page shows it. Every string comes from outside and is only ever text.

import type { Level, NodeCounts, Verdict } from "../model";

export interface Size {
  current: number;
  target: number | null;
}

export interface ErrorText {
  code: string;
  message: string;
}

export interface ResizeError extends ErrorText {
  /** When the attempt that it belongs to ended. */
  time: string | null;
  /** Whether Batch tells it of the last attempt still. */
  current: boolean;
  firstSeen: string;
  lastSeen: string;
  /** How many attempts ended with it since then, as far as polls saw. */
  attempts: number;
}

export interface AutoScale {
  formula: string | null;
  evaluationInterval: string | null;
  lastEvaluation: string | null;
  results: string | null;
  error: ErrorText | null;
}

export interface StartTask {
  commandLine: string;
  environment: Record<string, string>;
  waitForSuccess: boolean;
  maxTaskRetryCount: number;
}

export interface Pool {
  id: string;
  account: string;
  state: string;
  stateTransitionTime: string;
  creationTime: string;
  allocationState: string | null;
  allocationStateTransitionTime: string | null;
  displayName: string | null;
  vmSize: string;
  taskSlotsPerNode: number;
  dedicated: Size;
  spot: Size;
  nodeCounts: NodeCounts | null;
  cores: { total: number; busy: number } | null;
  slots: { total: number; used: number; free: number } | null;
  runningTasks: number | null;
  /** Nodes that fell into a bad state three times or more within an hour. */
  flappingNodes: number | null;
  interruptions: Interruptions | null;
  resizeErrors: ResizeError[];
  autoScale: AutoScale | null;
  startTask: StartTask | null;
  verdict: Verdict;
}

/** One node among all of a pool. */
export interface NodeState {
  id: string;
  state: string;
  stateTransitionTime: string | null;
  isDedicated: boolean;
  runningTasks: number;
  flapping: boolean;
}

/** One of a map's; `cause` is its place among the map's causes, their number where it is another. */
export interface MappedNode extends NodeState {
  cause: number | null;
}

/** Why nodes are in their states, and how many are for this reason. */
export interface Cause {
  cause: string;
  nodes: number;
}

export interface NodeStates {
  nodes: MappedNode[];
  otherNodes: number;
  causes: Cause[];
  otherCauses: number;
}

export interface StartTaskInfo {
  state: string;
  result: string | null;
  exitCode: number | null;
  startTime: string | null;
  endTime: string | null;
  retryCount: number;
  failureCategory: string | null;
  failureCode: string | null;
  failureMessage: string | null;
}

export interface RecentTask {
  job: string;
  task: string;
  state: string;
}

export interface Node extends NodeState {
  pool: string;
  account: string;
  secondsInState: number | null;
  cause: string | null;
  schedulingState: string;
  vmSize: string;
  lastBootTime: string | null;
  allocationTime: string | null;
  runningSlots: number;
  totalTasksRun: number;
  totalTasksSucceeded: number;
  asOf: string | null;
  level: Level;
  lastSeen: string | null;
  startTaskInfo: StartTaskInfo | null;
  errors: ErrorText[];
  recentTasks: RecentTask[];
  recentTasksAsOf: string | null;
  /** Falls into a bad state within an hour. */
  flaps: number;
  interruptions: Interruptions;
  history: PastState[];
  historySince: string | null;
  historyComplete: boolean;
}

/** At the end of a step; all null where nobody asked Batch in that step. */
export interface PoolPoint {
  time: string;
  asOf: string | null;
  exact: boolean | null;
  nodeCounts: NodeCounts | null;
  target: Kinds | null;
  current: Kinds | null;
  slots: { total: number; used: number; free: number } | null;
  cores: { total: number; busy: number } | null;
  tasks: number | null;
  /** Spot nodes that were taken back within the step. */
  preempted: number | null;
  resizeErrors: number | null;
}

export interface Kinds {
  dedicated: number | null;
  spot: number | null;
}

export interface PoolHistory {
  from: string;
  to: string;
  /** An ISO 8601 duration, as "PT1M". */
  step: string;
  value: PoolPoint[];
}

/** An evaluation of the autoscale formula that a poll saw. */
export interface Evaluation {
  timestamp: string;
  results: string | null;
  error: ErrorText | null;
}

/** How often spot nodes were preempted, as polls saw it since `since`. */
export interface Interruptions {
  total: number;
  lastHour: number;
  lastDay: number;
  latest: string | null;
  since: string | null;
  /** By so many the numbers may be too low. */
  unexplainedRestarts: number;
}

/** Latest first; `state` is null where no poll saw it, `until` where it is the current one, or isn't known. */
export interface PastState {
  state: string | null;
  since: string | null;
  until: string | null;
  current: boolean;
}
