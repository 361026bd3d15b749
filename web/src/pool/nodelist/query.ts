// The API's query for a list of nodes.

import type { PoolView } from "../../routing/poolView.ts";

const ROWS_OF_PAGE = 15;
/** The server's limit of rows per CSV response. */
export const ROWS_OF_CSV = 1000;

/** The query of a list of nodes, as a page of JSON or as a table. */
export function nodesQuery({ state, cause, flapping, prefix }: PoolView, format: "json" | "csv" = "json"): string {
  const page = { maxpagesize: String(format === "csv" ? ROWS_OF_CSV : ROWS_OF_PAGE) };
  const query = new URLSearchParams(format === "csv" ? { format, ...page } : page);
  for (const [key, value] of Object.entries({ state, cause, flapping, prefix })) if (value) query.set(key, value);
  return `?${query}`;
}
