// What of a pool is looked at, kept in the page's address so that a view can be shared and reloaded.

import { RANGES, type Range } from "../time/ranges.ts";
import { addressOfOne } from "./places.ts";

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
