// The state of a job's page, kept in its address so that it can be shared and reloaded.

import { type Range, rangeNamed } from "../time/ranges.ts";
import { addressOfDetail } from "./routes.ts";

/** Filters and order of the task list; "" stands for all. `show` is a state or, of completed tasks, a result. */
export interface TaskFilters {
  show: string;
  prefix: string;
  poolId: string;
  nodeId: string;
  exitCode: string;
  failureGroup: string;
  /** The task slots that tasks require. */
  slots: string;
  /** Bounds of starts, both included. */
  startedFrom: string;
  startedTo: string;
  /** Bounds of durations from start to end, such as `PT1.5S`. */
  runTimeFrom: string;
  runTimeTo: string;
  orderby: string;
}

export const NO_TASK_FILTERS: TaskFilters = {
  show: "",
  prefix: "",
  poolId: "",
  nodeId: "",
  exitCode: "",
  failureGroup: "",
  slots: "",
  startedFrom: "",
  startedTo: "",
  runTimeFrom: "",
  runTimeTo: "",
  orderby: "",
};

export interface JobView {
  account: string;
  job: string;
  range: Range | null;
  /** The task whose panel is open; "" for none. */
  task: string;
  tasks: TaskFilters;
}

/** Reads the view from the page's address; null if that names no job. */
export function readJobView(): JobView | null {
  const query = new URLSearchParams(location.search);
  const account = query.get("account");
  const job = query.get("job");
  if (!account || !job) return null;
  const range = rangeNamed(query.get("range"));
  const keys = Object.keys(NO_TASK_FILTERS) as (keyof TaskFilters)[];
  const tasks = Object.fromEntries(keys.map((key) => [key, query.get(key) ?? ""]));
  return { account, job, range, task: query.get("task") ?? "", tasks: tasks as unknown as TaskFilters };
}

export function addressOfJobView({ account, job, range, task, tasks }: JobView): string {
  return addressOfDetail("jobs", account, job, { range: range ?? "", ...tasks, task });
}
