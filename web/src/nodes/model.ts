// The JSON of nodes: the properties that the page shows. Every string comes from outside and is only shown as text.

import type { VerdictLevel } from "../api/model.ts";

export interface ErrorText {
  code: string;
  message: string;
}

/** A node in the node map and in lists. */
export interface NodeState {
  id: string;
  state: string;
  stateTransitionTime: string | null;
  isDedicated: boolean;
  runningTasks: number;
  flapping: boolean;
}

/** A node of the map; `cause` is an index into the map's causes, or their length for any other; `vmSize` into its sizes. */
export interface MapNode extends NodeState {
  cause: number | null;
  vmSize: number | null;
}

/** A cause of node states, with the number of nodes that have it. */
export interface Cause {
  cause: string;
  nodes: number;
}

export interface NodeStates {
  nodes: MapNode[];
  otherNodes: number;
  causes: Cause[];
  otherCauses: number;
  vmSizes: string[];
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
  cause: string | null;
  schedulingState: string;
  vmSize: string;
  /** The version of Batch's own agent, null before the node has booted. */
  nodeAgentVersion: string | null;
  /** Its vCPUs; null where they are unknown. */
  cores: number | null;
  lastBootTime: string | null;
  allocationTime: string | null;
  runningSlots: number;
  totalTasksRun: number;
  totalTasksSucceeded: number;
  asOf: string | null;
  level: VerdictLevel;
  lastSeen: string | null;
  startTaskInfo: StartTaskInfo | null;
  errors: ErrorText[];
  recentTasks: RecentTask[];
  recentTasksAsOf: string | null;
  /** The number of times it entered a bad state within an hour. */
  flaps: number;
  interruptions: Interruptions;
  history: StatePeriod[];
  historySince: string | null;
  historyComplete: boolean;
}

/** Preemptions of spot nodes that polls recorded since `since`. */
export interface Interruptions {
  total: number;
  lastHour: number;
  lastDay: number;
  latest: string | null;
  since: string | null;
  /** Restarts that may be further interruptions. */
  unexplainedRestarts: number;
}

/** One period of a node's history; `state` is null if no poll recorded it, `until` if it is current or unknown. */
export interface StatePeriod {
  state: string | null;
  since: string | null;
  until: string | null;
  current: boolean;
}
