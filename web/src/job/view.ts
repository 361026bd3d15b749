// Which job is shown and what of it, kept in the page's address so that a view can be shared and reloaded.

import { serverClock } from "../clock";
import type { Job, TaskCounts } from "../model";
import { addressOfOne } from "../places";

export const RANGES = ["1h", "6h", "24h", "7d", "90d"] as const;
export type Range = (typeof RANGES)[number];

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How long each range is, and by what grid it moves on: a question that stays the same is answered by a 304. */
const LENGTHS: Record<Range, { length: number; grid: number }> = {
  "1h": { length: HOUR, grid: MINUTE },
  "6h": { length: 6 * HOUR, grid: 5 * MINUTE },
  "24h": { length: 24 * HOUR, grid: 15 * MINUTE },
  "7d": { length: 7 * 24 * HOUR, grid: 2 * HOUR },
  "90d": { length: 90 * 24 * HOUR, grid: 24 * HOUR },
};

/** What the task list is asked for; "" stands for everything. `show` is a state or, of completed tasks, a result. */
export interface TaskFilters {
  show: string;
  prefix: string;
  nodeId: string;
  exitCode: string;
  failureGroup: string;
  orderby: string;
}

export const EVERY_TASK: TaskFilters = {
  show: "",
  prefix: "",
  nodeId: "",
  exitCode: "",
  failureGroup: "",
  orderby: "",
};

export interface JobView {
  account: string;
  job: string;
  range: Range | null;
  /** The one whose panel is open; "" for none. */
  task: string;
  tasks: TaskFilters;
}

/** What the page's address asks for; null when it names no job. */
export function readView(): JobView | null {
  const query = new URLSearchParams(location.search);
  const account = query.get("account");
  const job = query.get("job");
  if (!account || !job) return null;
  const range = RANGES.find((each) => each === query.get("range")) ?? null;
  const keys = Object.keys(EVERY_TASK) as (keyof TaskFilters)[];
  const tasks = Object.fromEntries(keys.map((key) => [key, query.get(key) ?? ""]));
  return { account, job, range, task: query.get("task") ?? "", tasks: tasks as unknown as TaskFilters };
}

export function addressOfView({ account, job, range, task, tasks }: JobView): string {
  return addressOfOne("jobs", account, job, { range: range ?? "", ...tasks, task });
}

export function addressOfJob(account: string, job: string, task = ""): string {
  return addressOfView({ account, job, range: null, task, tasks: EVERY_TASK });
}

/** The API's address of the job, or of one of its parts. */
export function pathOf({ account, job }: JobView, ...parts: string[]): string {
  return ["/api/accounts", ...[account, "jobs", job, ...parts].map(encodeURIComponent)].join("/");
}

/** The range that shows most of what an address asks no range of: as old as it is, of a live one a day at most. */
export function rangeFor(job: Pick<Job, "creationTime" | "state"> | null): Range {
  const age = serverClock.now() - Date.parse(job?.creationTime ?? "");
  const found = RANGES.find((range) => age <= LENGTHS[range].length);
  if (!found || (job?.state !== "completed" && !["1h", "6h"].includes(found))) return "24h";
  return found;
}

/**
 * Where a range begins by now, but not before `earliest` (milliseconds since 1970), as a time that the API reads. It
 * moves on once in `least` milliseconds at most.
 */
export function beginOf(range: Range, earliest = -Infinity, least = 0): string {
  const { length } = LENGTHS[range];
  const grid = Math.max(LENGTHS[range].grid, least);
  const begin = Math.floor((serverClock.now() - length) / grid) * grid;
  return new Date(Math.max(begin, earliest)).toISOString().replace(".000Z", "Z");
}

const ROWS_OF_PAGE = 25;
const ROWS_OF_CSV = 100_000;
const ROWS_OF_SORTED_CSV = 25_000;

/** As many as the server puts into one table: fewer where it must compare all of them first. */
export function rowsOfCsv({ orderby }: Pick<TaskFilters, "orderby">): number {
  return ["", "id"].includes(orderby.split(" ")[0] ?? "") ? ROWS_OF_CSV : ROWS_OF_SORTED_CSV;
}

/** How many of these `counts` pass the filters at most, and just so many where that is `known`. */
export function tasksOf({ show, orderby, ...others }: TaskFilters, counts: TaskCounts): { most: number; known: boolean } {
  const most = Object.hasOwn(counts, show) ? counts[show as keyof TaskCounts] : counts.total;
  return { most, known: !Object.values(others).some(Boolean) };
}

/** The query of a task list, as a page of JSON or as a whole table. */
export function tasksQuery({ show, ...others }: TaskFilters, format: "json" | "csv"): string {
  const page = { maxpagesize: String(format === "csv" ? rowsOfCsv(others) : ROWS_OF_PAGE) };
  const query = new URLSearchParams(format === "csv" ? { format, ...page } : page);
  if (show === "succeeded" || show === "failed") query.set("result", show === "failed" ? "failure" : "success");
  else if (show) query.set("state", show);
  for (const [key, value] of Object.entries(others)) if (value) query.set(key, value);
  return `?${query}`;
}
