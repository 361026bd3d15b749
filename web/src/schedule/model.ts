// The JSON of job schedules, as far as the page shows it. Every string comes from outside and is only ever text.

import type { Json, TaskCounts, Verdict } from "../api/model.ts";

export interface Missed {
  /** Null where it can't be known; `basis` says why, or how it was counted. */
  count: number | null;
  since: string | null;
  until: string | null;
  basis: string;
}

export interface Schedule {
  id: string;
  account: string;
  displayName: string | null;
  state: string;
  previousState: string | null;
  creationTime: string;
  stateTransitionTime: string;
  lastModified: string;
  endTime: string | null;
  deleted: boolean;
  /** When a poll found that it was gone. */
  deletedTime: string | null;
  schedule: {
    doNotRunUntil: string | null;
    doNotRunAfter: string | null;
    startWindow: string | null;
    recurrenceInterval: string | null;
  };
  /** Its state is null where the job isn't known here, or was deleted. */
  recentJob: { id: string; state: string | null; deleted: boolean } | null;
  lastRunTime: string | null;
  nextRunTime: string | null;
  runs: { total: number | null; active: number; completed: number; deleted: number };
  missedRuns: Missed;
  totals: {
    activeJobs: number;
    unreadJobs: number;
    unknownJobs: number | null;
    taskCounts: TaskCounts;
    asOf: string | null;
    exact: boolean;
  };
  verdict: Verdict;
}

export interface Run {
  id: string;
  state: string;
  creationTime: string;
  endTime: string | null;
  deleted: boolean;
  taskCounts: TaskCounts | null;
}

/** One schedule in full. */
export interface WholeSchedule extends Schedule {
  jobSpecification: Record<string, Json> | null;
  jobSpecificationProblem: string | null;
  omittedProperties: string[];
  recentJobs: Run[];
}

/** The pool that its jobs run on; null where each has one of its own, or that isn't known. */
export function poolOf({ jobSpecification }: WholeSchedule): string | null {
  const info = jobSpecification?.poolInfo;
  const id = info !== null && typeof info === "object" && !Array.isArray(info) ? info.poolId : null;
  return typeof id === "string" && id ? id : null;
}

const STATES = ["active", "disabled", "terminating", "deleting", "completed"];

function rankOf({ state }: Schedule): number {
  const rank = STATES.indexOf(state);
  return rank < 0 ? STATES.length : rank;
}

/** What is alive first, then what missed runs, then by id, so that rows stay where they are. */
export function byUrgency(one: Schedule, other: Schedule): number {
  return (
    rankOf(one) - rankOf(other) ||
    (other.missedRuns.count ?? 0) - (one.missedRuns.count ?? 0) ||
    one.id.localeCompare(other.id)
  );
}
