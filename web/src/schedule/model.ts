// The JSON of job schedules: the properties that the page shows. Every string is only shown as text.

import type { Json, TaskCounts, Verdict } from "../api/model.ts";

export interface MissedRuns {
  /** Null if unknown; `basis` says why, or how it was counted. */
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
  endTime: string | null;
  deleted: boolean;
  /** The time of the poll that found it deleted. */
  deletedTime: string | null;
  schedule: {
    doNotRunUntil: string | null;
    doNotRunAfter: string | null;
    startWindow: string | null;
    recurrenceInterval: string | null;
  };
  /** The state is null if the job is unknown or deleted. */
  recentJob: { id: string; state: string | null; deleted: boolean } | null;
  lastRunTime: string | null;
  nextRunTime: string | null;
  runs: { total: number | null; active: number; completed: number; deleted: number };
  missedRuns: MissedRuns;
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
export interface ScheduleDetails extends Schedule {
  jobSpecification: Record<string, Json> | null;
  jobSpecificationProblem: string | null;
  omittedProperties: string[];
  recentJobs: Run[];
}

/** The pool of its jobs; null if unknown, or if each job has its own. */
export function poolOf({ jobSpecification }: ScheduleDetails): string | null {
  const info = jobSpecification?.poolInfo;
  const id = info !== null && typeof info === "object" && !Array.isArray(info) ? info.poolId : null;
  return typeof id === "string" && id ? id : null;
}

const STATES = ["active", "disabled", "terminating", "deleting", "completed"];

function rankOf({ state }: Schedule): number {
  const rank = STATES.indexOf(state);
  return rank < 0 ? STATES.length : rank;
}

/** Live schedules first, then those with most missed runs, then by id, so that rows keep their places. */
export function byUrgency(one: Schedule, other: Schedule): number {
  return (
    rankOf(one) - rankOf(other) ||
    (other.missedRuns.count ?? 0) - (one.missedRuns.count ?? 0) ||
    one.id.localeCompare(other.id)
  );
}
