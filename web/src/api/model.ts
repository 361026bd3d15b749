// The API's JSON: the properties that the page shows. Every string comes from outside and is only shown as text.

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export interface TaskCounts {
  active: number;
  preparing: number;
  running: number;
  completed: number;
  succeeded: number;
  failed: number;
  total: number;
}

export interface Round {
  asOf: string | null;
  startedAt: string;
  finishedAt: string;
  outcome: "succeeded" | "failed";
  reason: string | null;
  jobsPolled: number;
  jobsFailed: number;
  batchCalls: number;
}

export interface Account {
  id: string;
  name: string;
  region: string | null;
  endpoint: string;
  enabled: boolean;
  pollSeconds: number;
  jobs: Record<string, number>;
  taskCounts: TaskCounts;
  /** By cause. */
  waitingTasks?: Record<string, number>;
  /** When the oldest of these causes was found. */
  waitingTasksAsOf?: string | null;
  /** By category. */
  failedTasks?: Record<string, number>;
  /** Null before the first list of pools; the sums below are null before any nodes were read. */
  pools: { total: number; byState: Record<string, number>; notRead: number; asOf: string | null } | null;
  /** The reason why the last poll of pools failed; null if it succeeded. */
  poolsReason: string | null;
  nodeCounts: NodeCounts | null;
  slots: { total: number; used: number; free: number } | null;
  cores: { total: number; busy: number } | null;
  /** Nodes of unknown VM sizes, whose cores `cores` doesn't include. */
  unknownCores: number | null;
  schedules: { total: number; byState: Record<string, number>; asOf: string } | null;
  schedulesReason: string | null;
  lastRound: Round | null;
}

/** The number of nodes by Batch's state; states without nodes are missing. */
export type NodeCounts = Record<string, number>;

export type VerdictLevel = "exact" | "unverified" | "catchingUp" | "stale";

export interface Verdict {
  asOf: string | null;
  checkedAt: string | null;
  level: VerdictLevel;
  reason: string;
}

export interface Job {
  id: string;
  account: string;
  state: string;
  creationTime: string | null;
  poolId: string | null;
  displayName: string | null;
  deleted: boolean;
  terminateReason: string | null;
  taskCounts: TaskCounts | null;
  /** By category; null where the causes aren't known. */
  failedTasks?: Record<string, number> | null;
  verdict: Verdict;
  /** The progress of a first read that takes long. */
  progress: { tasks: number; expected: number | null } | null;
  insight?: JobStatistics | null;
  /** The cost of the last read of its task list. */
  taskRead?: { seconds: number; requests: number; pages: number } | null;
  efficiency?: JobEfficiency | null;
}

/** Used shares of what slots offer; null where they aren't known, or too few runs were measured. */
export interface UsedShares {
  cpu: number | null;
  memory: number | null;
  gpu: number | null;
}

export interface JobEfficiency extends UsedShares {
  measuredRuns: number;
  asOf: string | null;
}

/** In seconds, exact within the relative error. */
export interface Quantiles {
  tasks: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  relativeError: number;
}

export interface Throughput {
  perMinute: { last5Minutes: number | null; last15Minutes: number | null; lastHour: number | null };
  asOf: string | null;
}

/** The estimated time of completion with its basis, or the reason why it is unknown. */
export interface Estimate {
  completionTime: string | null;
  basis: string | null;
  remaining: number;
  reason: string | null;
}

export interface JobStatistics {
  throughput: Throughput | null;
  estimate: Estimate | null;
  queueWait: Quantiles | null;
  runTime: Quantiles | null;
  retries: number;
  retriedTasks: number;
  requeues: number;
  requeuedTasks: number;
  slots: { running: number; preparing: number; active: number } | null;
}

export interface Page<T> {
  value: T[];
  nextLink?: string;
}

export type TaskState = "succeeded" | "failed" | "running" | "preparing" | "active";

/** In the order of a bar: finished tasks on the left, waiting ones on the right. */
export const TASK_STATES: readonly TaskState[] = ["succeeded", "failed", "running", "preparing", "active"];
