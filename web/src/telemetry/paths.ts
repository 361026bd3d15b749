// The API's addresses of what nodes measure, and how often each range is read anew.

import { pathOfPool } from "../api/paths.ts";
import type { PoolView } from "../routing/poolView.ts";
import { beginOf, RANGES, type Range } from "../time/ranges.ts";
import { ASKED, ASKED_OF_CORES } from "./series/charts.ts";

/** Milliseconds: agents send every two minutes, and a week is much to read. */
export const INTERVALS_MS: Record<Range, number> = {
  "1h": 30_000,
  "6h": 60_000,
  "24h": 180_000,
  "7d": 900_000,
  "90d": 3_600_000,
};

export function spanOf(asked: string): Range {
  return RANGES.find((each) => each === asked) ?? "1h";
}

/** `step` is "" for what the server thinks best. */
export function pathOfNode(view: PoolView, span: Range, step: string, of: "charts" | "cores" = "charts"): string {
  const query = new URLSearchParams({ from: beginOf(span), ...(of === "cores" ? ASKED_OF_CORES : ASKED) });
  if (step) query.set("step", step);
  return `${pathOfPool(view, "nodes", view.node, "telemetry")}?${query}`;
}

/** All series of the range as a table. */
export function csvOfNode(view: PoolView, span: Range): string {
  const query = new URLSearchParams({ from: beginOf(span), name: ASKED.name, format: "csv" });
  return `${pathOfPool(view, "nodes", view.node, "telemetry")}?${query}`;
}
