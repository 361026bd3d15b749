// What is shown, kept in the page's address so that a view can be shared and reloaded.

import type { Job } from "../api/model.ts";
import { addressOfList } from "../routing/routes.ts";

export interface Filters {
  account: string;
  state: string;
  /** The pool that jobs run on. */
  poolId: string;
  prefix: string;
}

export function readFilters(): Filters {
  const query = new URLSearchParams(location.search);
  return {
    account: query.get("account") ?? "",
    state: query.get("state") ?? "",
    poolId: query.get("poolId") ?? "",
    prefix: query.get("prefix") ?? "",
  };
}

/** The address of a view; "" stands for everything. */
export function addressOf(filters: Filters): string {
  return addressOfList("jobs", { ...filters });
}

/** The filters that the API applies, as its query parameters. */
export function jobsQuery(filters: Filters): string {
  const query = new URLSearchParams({ maxpagesize: "500" });
  if (filters.state) query.set("state", filters.state);
  if (filters.poolId) query.set("poolId", filters.poolId);
  if (filters.prefix) query.set("prefix", filters.prefix);
  return `?${query}`;
}

/** Whether a job passes, so that typing shows at once and not only with the next answer. */
export function passes(job: Job, filters: Filters): boolean {
  return (
    (!filters.account || job.account === filters.account) &&
    (!filters.state || job.state === filters.state) &&
    (!filters.poolId || job.poolId?.toLowerCase() === filters.poolId.toLowerCase()) &&
    job.id.toLowerCase().startsWith(filters.prefix.toLowerCase())
  );
}
