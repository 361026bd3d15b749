// Filters of the list of jobs, kept in the page's address so that a view can be shared and reloaded.

import type { Job } from "../api/model.ts";
import { addressOfList } from "../routing/routes.ts";

export interface JobFilters {
  account: string;
  state: string;
  /** The pool that jobs run on. */
  poolId: string;
  prefix: string;
}

export function readJobFilters(): JobFilters {
  const query = new URLSearchParams(location.search);
  return {
    account: query.get("account") ?? "",
    state: query.get("state") ?? "",
    poolId: query.get("poolId") ?? "",
    prefix: query.get("prefix") ?? "",
  };
}

/** Empty filters stand for all jobs. */
export function addressOfJobs(filters: JobFilters): string {
  return addressOfList("jobs", { ...filters });
}

/** The filters that the API applies, as its query parameters. */
export function jobsQuery(filters: JobFilters): string {
  const query = new URLSearchParams({ maxpagesize: "500" });
  if (filters.state) query.set("state", filters.state);
  if (filters.poolId) query.set("poolId", filters.poolId);
  if (filters.prefix) query.set("prefix", filters.prefix);
  return `?${query}`;
}

/** Whether a job passes the filters, so that typing takes effect before the next response. */
export function passes(job: Job, filters: JobFilters): boolean {
  return (
    (!filters.account || job.account === filters.account) &&
    (!filters.state || job.state === filters.state) &&
    (!filters.poolId || job.poolId?.toLowerCase() === filters.poolId.toLowerCase()) &&
    job.id.toLowerCase().startsWith(filters.prefix.toLowerCase())
  );
}
