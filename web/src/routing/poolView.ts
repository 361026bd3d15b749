// The state of a pool's page, kept in its address so that it can be shared and reloaded.

import { type Range, rangeNamed } from "../time/ranges.ts";
import { addressOfDetail } from "./routes.ts";

/** "" stands for all; `flapping` is "true" for only flapping nodes, `node` has an open panel, `charts` is their range,
 * `colour` the metric that colours the map, `agent` "show" or "hide" for the section of the node agent. */
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
  colour: string;
  agent: string;
}

export function readPoolView(account: string, pool: string): PoolView {
  const query = new URLSearchParams(location.search);
  const parameter = (name: string) => query.get(name) ?? "";
  const range = rangeNamed(query.get("range"));
  return {
    account,
    pool,
    range,
    state: parameter("state"),
    cause: parameter("cause"),
    flapping: parameter("flapping") === "true" ? "true" : "",
    prefix: parameter("prefix"),
    node: parameter("node"),
    charts: parameter("charts"),
    colour: parameter("colour"),
    agent: parameter("agent"),
  };
}

export function addressOfPoolView({ account, pool, range, ...parameters }: PoolView): string {
  return addressOfDetail("pools", account, pool, { range: range ?? "", ...parameters });
}
