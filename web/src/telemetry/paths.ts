// Paths of the API for node telemetry, and polling intervals by range.

import { pathOfPool } from "../api/paths.ts";
import type { PoolView } from "../routing/poolView.ts";
import { beginOf, type Range, rangeNamed } from "../time/ranges.ts";
import { CHART_QUERY, CORE_QUERY } from "./series/charts.ts";

/** In milliseconds. Agents send every two minutes, and long ranges are costly to read. */
export const INTERVALS_MS: Record<Range, number> = {
  "1h": 30_000,
  "6h": 60_000,
  "24h": 180_000,
  "7d": 900_000,
  "90d": 3_600_000,
};

export function chartRangeOf(parameter: string): Range {
  return rangeNamed(parameter) ?? "1h";
}

/** `step` is "" for the server's choice. */
export function pathOfNode(view: PoolView, range: Range, step: string, content: "charts" | "cores" = "charts"): string {
  const query = new URLSearchParams({ from: beginOf(range), ...(content === "cores" ? CORE_QUERY : CHART_QUERY) });
  if (step) query.set("step", step);
  return `${pathOfPool(view, "nodes", view.node, "telemetry")}?${query}`;
}

/** The path of all series of the range as CSV. */
export function csvOfNode(view: PoolView, range: Range): string {
  const query = new URLSearchParams({ from: beginOf(range), name: CHART_QUERY.name, format: "csv" });
  return `${pathOfPool(view, "nodes", view.node, "telemetry")}?${query}`;
}
