// The JSON of nodes, as far as the page shows it. Every string comes from outside and is only ever text.

import type { Level } from "../api/model.ts";

export interface ErrorText {
  code: string;
  message: string;
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
