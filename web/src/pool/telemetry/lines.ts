// Charts of a pool's metrics: statistics over its nodes as lines.

import { parseDuration } from "../../format/durations.ts";
import type { TimeGrid } from "../../telemetry/series/axis.ts";
import type { ChartData } from "../../telemetry/series/charts.ts";
import type { Line } from "../../telemetry/series/lines.ts";
import { isMetric, METRICS } from "./metrics.ts";
import type { PoolMetric, PoolTelemetry, StatisticsPoint } from "./model.ts";

type Statistic = "mean" | "p50" | "p95" | "max";

const STATISTICS: [name: string, statistic: Statistic][] = [
  ["mean", "mean"],
  ["median", "p50"],
  ["95th percentile", "p95"],
  ["highest", "max"],
];
/** Gaps begin after so many steps without data. */
const GAP_STEPS = 2.5;
const MIN_STEPS = 8;

/** The charts of metrics with data. */
export function poolChartsOf({ step, value }: PoolTelemetry): ChartData[] {
  const reach = GAP_STEPS * parseDuration(step);
  return METRICS.flatMap((metric) => {
    const found = value.find((each) => isMetric(metric, each));
    if (!found?.points.length) return [];
    const lines = STATISTICS.map(([name, statistic]) => lineOf(name, found, statistic, reach));
    return [{ id: metric.id, title: metric.title, unit: metric.unit, lines, limit: null, lineCount: lines.length }];
  });
}

function lineOf(name: string, { points }: PoolMetric, statistic: Statistic, reach: number): Line {
  const values = points.map((point) => statisticAt(point, point[statistic]));
  return { name, values, reach };
}

function statisticAt({ time }: StatisticsPoint, value: number) {
  return { at: Date.parse(time), mean: value, min: value, max: value };
}

/** The steps of an answer's range from the first data on, but at least some. */
export function poolTimeGridOf({ from, to, step, value }: PoolTelemetry): TimeGrid {
  const [end, length] = [Date.parse(to), parseDuration(step)];
  const start = value.reduce((least, { points: [point] }) => (point ? Math.min(least, Date.parse(point.time)) : least), end);
  const begin = Math.max(Date.parse(from), Math.min(start - length, end - MIN_STEPS * length));
  const first = Math.floor(begin / length) * length;
  return {
    from: begin,
    to: Math.max(end, begin + 1),
    step: length,
    first,
    steps: Math.max(1, Math.ceil((end - first) / length)),
  };
}

/** The beginning of the last step with data of any metric. */
export function latestOf({ value }: PoolTelemetry): number {
  return value.reduce((latest, { points }) => Math.max(latest, Date.parse(points.at(-1)?.time ?? "") || 0), 0);
}

/** The number of nodes with data in a step, of any metric. */
export function nodesAt({ value }: PoolTelemetry, at: number): number {
  const points = value.flatMap(({ points }) => points.filter(({ time }) => Date.parse(time) === at));
  return points.reduce((most, { nodes }) => Math.max(most, nodes), 0);
}
