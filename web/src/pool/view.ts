// What of a pool is looked at, kept in the page's address so that a view can be shared and reloaded.

import { RANGES, type Range } from "../job/view";
import { addressOfOne } from "../places";

/** "" stands for everything; `flapping` is "true" where only such nodes are wanted, `node` the one whose panel is open, `charts` their range. */
export interface PoolView {
  account: string;
  pool: string;
  range: Range | null;
  state: string;
  cause: string;
  flapping: string;
  prefix: string;
  node: string;
  charts: string;
}

export function readPoolView(account: string, pool: string): PoolView {
  const query = new URLSearchParams(location.search);
  const asked = (name: string) => query.get(name) ?? "";
  const range = RANGES.find((each) => each === query.get("range")) ?? null;
  return {
    account,
    pool,
    range,
    state: asked("state"),
    cause: asked("cause"),
    flapping: asked("flapping") === "true" ? "true" : "",
    prefix: asked("prefix"),
    node: asked("node"),
    charts: asked("charts"),
  };
}

export function addressOfPool({ account, pool, range, ...looked }: PoolView): string {
  return addressOfOne("pools", account, pool, { range: range ?? "", ...looked });
}

/** The API's address of the pool, or of one of its parts. */
export function pathOfPool({ account, pool }: Pick<PoolView, "account" | "pool">, ...parts: string[]): string {
  return ["/api/accounts", ...[account, "pools", pool, ...parts].map(encodeURIComponent)].join("/");
}

const ROWS_OF_PAGE = 15;
/** As many as the server puts into one table of nodes. */
export const ROWS_OF_CSV = 1000;

/** The query of a list of nodes, as a page of JSON or as a table. */
export function nodesQuery({ state, cause, flapping, prefix }: PoolView, format: "json" | "csv" = "json"): string {
  const page = { maxpagesize: String(format === "csv" ? ROWS_OF_CSV : ROWS_OF_PAGE) };
  const query = new URLSearchParams(format === "csv" ? { format, ...page } : page);
  for (const [key, value] of Object.entries({ state, cause, flapping, prefix })) if (value) query.set(key, value);
  return `?${query}`;
}
