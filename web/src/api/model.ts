// The API's JSON, as far as the page shows it. Every string in it comes from outside and is only ever shown as text.

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
  /** Null before pools were first listed, as are the sums of what they tell before any nodes were read. */
  pools: { total: number; byState: Record<string, number>; notRead: number; asOf: string | null } | null;
  /** What went wrong when pools were polled last; null where nothing did. */
  poolsReason: string | null;
  nodeCounts: NodeCounts | null;
  slots: { total: number; used: number; free: number } | null;
  cores: { total: number; busy: number } | null;
  /** Nodes whose VM size isn't known, and which `cores` leaves out. */
  unknownCores: number | null;
  schedules: { total: number; byState: Record<string, number>; asOf: string } | null;
  schedulesReason: string | null;
  lastRound: Round | null;
}

/** Nodes by state, in the words of Batch; states that no node is in are left out. */
export type NodeCounts = Record<string, number>;

export type Level = "exact" | "unverified" | "catchingUp" | "stale";

export interface Verdict {
  asOf: string | null;
  checkedAt: string | null;
  source: string;
  level: Level;
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
  verdict: Verdict;
  /** Of a first read that takes long. */
  progress: { tasks: number; expected: number | null } | null;
  insight?: Insight | null;
  /** What the last read of its task list took. */
  taskRead?: { seconds: number; requests: number; pages: number } | null;
}

/** Quantiles in seconds, each right within the relative error. */
export interface Spread {
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

/** When the job will be done, by what, or why that isn't known. */
export interface Estimate {
  completionTime: string | null;
  basis: string | null;
  remaining: number;
  reason: string | null;
}

export interface Insight {
  throughput: Throughput | null;
  estimate: Estimate | null;
  queueWait: Spread | null;
  runTime: Spread | null;
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

/** In the order of a bar: what is done stands on the left, what waits on the right. */
export const TASK_STATES: readonly TaskState[] = ["succeeded", "failed", "running", "preparing", "active"];
