// Charts of metrics that the catalog lacks, under their own names: one for each, the highest of its series first.

import type { ChartData } from "./charts.ts";
import type { Line } from "./lines.ts";
import type { Series } from "./model.ts";
import { lineOf, type SeriesSet } from "./selection.ts";
import type { Unit } from "./units.ts";

export const MAX_CUSTOM_CHARTS = 24;
const PREFIX = "custom.";
/** Units of gauges whose values have texts of their own. */
const UNITS: Record<string, Unit> = { By: "bytes", Cel: "degrees", W: "watts" };

export function customCharts(set: SeriesSet, maxLines: number): ChartData[] {
  return customGroups(set)
    .slice(0, MAX_CUSTOM_CHARTS)
    .map(([key, series]) => {
      const lines = series.flatMap((each) => lineOf(set, labelOf(each), [each]) ?? []);
      lines.sort((one, other) => latest(other) - latest(one));
      const [title, unit] = titleOf(series[0]);
      return { id: key, title, unit, lines: lines.slice(0, maxLines), limit: null, lineCount: lines.length };
    });
}

/** The number of custom metrics that aren't drawn. */
export function customBeyond(set: SeriesSet): number {
  return Math.max(0, customGroups(set).length - MAX_CUSTOM_CHARTS);
}

/** The series of each metric, by its name and kind. */
function customGroups({ series }: SeriesSet): [string, Series[]][] {
  const groups = new Map<string, Series[]>();
  for (const each of series) {
    if (!each.name.startsWith(PREFIX) || !each.points.length) continue;
    const key = `${each.name} ${each.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups].sort(([one], [other]) => one.localeCompare(other, "en", { numeric: true }));
}

function labelOf({ attributes }: Series): string {
  return Object.values(attributes).join(" · ") || "value";
}

function latest({ values }: Line): number {
  return values.at(-1)?.mean ?? 0;
}

/** A title that has the unit, unless the values have it; a counter's values are per second. */
function titleOf(series: Series | undefined): [string, Unit] {
  const { name = "", unit = "", kind = "gauge" } = series ?? {};
  const title = name.slice(PREFIX.length);
  const text = unit === "1" ? "" : unit.replaceAll(/[{}]/g, "");
  if (kind === "counter") {
    return unit === "By" ? [title, "bytes a second"] : [`${title} (${`${text} per second`.trim()})`, "value"];
  }
  const known = UNITS[unit];
  if (known) return [title, known];
  return [text ? `${title} (${text})` : title, "value"];
}
