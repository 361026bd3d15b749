// The API's addresses of accounts, jobs and pools, and of their parts.

/** Of one job. */
export interface JobKey {
  account: string;
  job: string;
}

/** Of one pool. */
export interface PoolKey {
  account: string;
  pool: string;
}

/** The API's address of something of an account, as "events". */
export function pathOfAccount(account: string, part: string): string {
  return `/api/accounts/${encodeURIComponent(account)}/${part}`;
}

/** The API's address of the job, or of one of its parts. */
export function pathOfJob({ account, job }: JobKey, ...parts: string[]): string {
  return ["/api/accounts", ...[account, "jobs", job, ...parts].map(encodeURIComponent)].join("/");
}

/** The API's address of the pool, or of one of its parts. */
export function pathOfPool({ account, pool }: PoolKey, ...parts: string[]): string {
  return ["/api/accounts", ...[account, "pools", pool, ...parts].map(encodeURIComponent)].join("/");
}
