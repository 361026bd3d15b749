// What the API is asked of a job's tasks.

import type { TaskCounts } from "../../api/model.ts";
import type { TaskFilters } from "../../routing/jobView.ts";

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
