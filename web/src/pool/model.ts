// The JSON of pools: the properties that the page shows. Every string comes from outside and is only shown as text.

import type { Json, NodeCounts, Verdict } from "../api/model.ts";
import type { ErrorText, Interruptions } from "../nodes/model.ts";
import type { Announced } from "../retirements/model.ts";
import type { Finding } from "../ui/findings/model.ts";

export interface Size {
  current: number;
  target: number | null;
}

/** The sizes by kind of node; omits a kind with neither current nor target nodes. */
export function usedSizes(dedicated: Size, spot: Size): ["dedicated" | "spot", Size][] {
  const all: ["dedicated" | "spot", Size][] = [["dedicated", dedicated], ["spot", spot]];
  return all.filter(([, { current, target }]) => current || target);
}

export interface ResizeError extends ErrorText {
  /** When the failed resize ended. */
  time: string | null;
  /** Whether Batch still reports it for the last resize. */
  current: boolean;
  firstSeen: string;
  lastSeen: string;
  /** The number of resizes since `firstSeen` that polls saw end with it. */
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

/** Something that Azure retires and the pool uses; `leadDays` is 180, 60, 14 or 0 as its last day comes nearer. */
export interface Retirement extends Announced {
  leadDays: number | null;
  finding: string | null;
}

/** A setting, named as in Batch's REST API, that had another value before; null is no value. */
export interface SettingChange {
  time: string;
  name: string;
  before: string | null;
  after: string | null;
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
  /** Nodes by VM size. */
  vmSizes: Record<string, number> | null;
  /** Nodes by the version of Batch's own agent, the oldest first; null until nodes were read by this version. */
  nodeAgentVersions: Record<string, number> | null;
  cores: { total: number; busy: number } | null;
  /** Machines whose vCPUs are unknown; `cores` is null then. */
  unknownCores: number | null;
  slots: { total: number; used: number; free: number } | null;
  runningTasks: number | null;
  /** Nodes that entered a bad state three times or more within an hour. */
  flappingNodes: number | null;
  interruptions: Interruptions | null;
  /** Of its jobs, by cause. */
  waitingTasks?: Record<string, number>;
  /** When the oldest of these causes was found. */
  waitingTasksAsOf?: string | null;
  /** Of its jobs, by category. */
  failedTasks?: Record<string, number>;
  resizeErrors: ResizeError[];
  autoScale: AutoScale | null;
  startTask: StartTask | null;
  /** Named as in Batch's REST API; null until the pool was read by this version. */
  settings: Record<string, Json> | null;
  /** Settings that Batch sent in another type than expected. */
  settingsLeftOut: string[];
  /** The latest 20, the last one first. */
  settingChanges: SettingChange[];
  settingChangesLeftOut: number;
  retirements: Retirement[];
  /** In the answer of a single pool. */
  findings?: Finding[];
  verdict: Verdict;
}

/** The numbers at the end of a step; all null if no poll ran in that step. */
export interface PoolPoint {
  time: string;
  asOf: string | null;
  exact: boolean | null;
  nodeCounts: NodeCounts | null;
  target: NodesByType | null;
  current: NodesByType | null;
  slots: { total: number; used: number; free: number } | null;
  cores: { total: number; busy: number } | null;
  tasks: number | null;
  /** Spot nodes that were preempted within the step. */
  preempted: number | null;
  resizeErrors: number | null;
  /** How long tasks waited within the step by cause, summed over tasks; null where that isn't known. */
  waitedSeconds: Record<string, number> | null;
}

interface NodesByType {
  dedicated: number | null;
  spot: number | null;
}

/** An evaluation of the autoscale formula that a poll recorded. */
export interface Evaluation {
  timestamp: string;
  results: string | null;
  error: ErrorText | null;
}
