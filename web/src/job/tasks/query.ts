// The API's query for a list of tasks.

import type { TaskCounts } from "../../api/model.ts";
import type { TaskFilters } from "../../routing/jobView.ts";

const ROWS_OF_PAGE = 25;
const ROWS_OF_CSV = 100_000;
const ROWS_OF_SORTED_CSV = 25_000;

/** The server's limit of rows per CSV response; it is lower if the server must sort all tasks first. */
export function rowsOfCsv({ orderby }: Pick<TaskFilters, "orderby">): number {
  return ["", "id"].includes(orderby.split(" ")[0] ?? "") ? ROWS_OF_CSV : ROWS_OF_SORTED_CSV;
}

/** The most tasks of these counts that can pass the filters; with `isExact`, exactly as many pass. */
export function maxTasks(
  { show, orderby, ...others }: TaskFilters,
  counts: TaskCounts,
): { max: number; isExact: boolean } {
  const max = Object.hasOwn(counts, show) ? counts[show as keyof TaskCounts] : counts.total;
  return { max, isExact: !Object.values(others).some(Boolean) };
}

/** The query of a task list, as a page of JSON or as CSV. */
export function tasksQuery({ show, ...others }: TaskFilters, format: "json" | "csv"): string {
  const page = { maxpagesize: String(format === "csv" ? rowsOfCsv(others) : ROWS_OF_PAGE) };
  const query = new URLSearchParams(format === "csv" ? { format, ...page } : page);
  if (show === "succeeded" || show === "failed") query.set("result", show === "failed" ? "failure" : "success");
  else if (show) query.set("state", show);
  for (const [key, value] of Object.entries(others)) if (value) query.set(key, value);
  return `?${query}`;
}
