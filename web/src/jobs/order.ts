// The order of jobs in a list.

import type { Job } from "../api/model.ts";

const JOB_STATES = ["active", "enabling", "disabling", "terminating", "disabled", "deleting", "completed"];

/** The rank of a job's state: live states first, ended ones last, unknown states before these. */
export function rankOf(state: string): number {
  const rank = JOB_STATES.indexOf(state);
  return rank < 0 ? JOB_STATES.length - 1.5 : rank;
}

/** Active jobs first; within a state the newest; then by id, so that rows keep their places. */
export function byUrgency(one: Job, other: Job): number {
  return (
    Number(one.deleted) - Number(other.deleted) ||
    rankOf(one.state) - rankOf(other.state) ||
    (other.creationTime ?? "").localeCompare(one.creationTime ?? "") ||
    one.id.localeCompare(other.id)
  );
}
