// Paths of the API for accounts, jobs and pools.

interface JobKey {
  account: string;
  job: string;
}

interface PoolKey {
  account: string;
  pool: string;
}

/** The path of a collection of an account, such as "events". */
export function pathOfAccount(account: string, part: string): string {
  return `/api/accounts/${encodeURIComponent(account)}/${part}`;
}

/** The path of a job, or of a part of it. */
export function pathOfJob({ account, job }: JobKey, ...parts: string[]): string {
  return ["/api/accounts", ...[account, "jobs", job, ...parts].map(encodeURIComponent)].join("/");
}

/** The path of a pool, or of a part of it. */
export function pathOfPool({ account, pool }: PoolKey, ...parts: string[]): string {
  return ["/api/accounts", ...[account, "pools", pool, ...parts].map(encodeURIComponent)].join("/");
}
