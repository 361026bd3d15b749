// Which job is shown and what of it, kept in the page's address so that a view can be shared and reloaded.

import { RANGES, type Range } from "../time/ranges.ts";
import { addressOfOne } from "./places.ts";

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
