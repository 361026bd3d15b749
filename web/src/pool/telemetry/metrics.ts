// The metrics of a pool's nodes that the page charts, and by which the map of nodes is coloured.

import type { Unit } from "../../telemetry/series/units.ts";

export interface Metric {
  /** Stands in addresses. */
  id: string;
  title: string;
  unit: Unit;
  name: string;
  /** An empty value is that of metrics without the attribute. */
  attributes: Record<string, string>;
}

const DEVICE = "batchscope.device";
/** Agents may send sums of their own samples, too. */
const SAMPLES = { "batchscope.source": "" };

/** In the order of their charts. */
export const METRICS: readonly Metric[] = [
  {
    id: "cpu",
    title: "CPU",
    unit: "share",
    name: "system.cpu.utilization",
    attributes: { "cpu.mode": "", [DEVICE]: "", ...SAMPLES },
  },
  {
    id: "memory",
    title: "Memory",
    unit: "share",
    name: "system.memory.utilization",
    attributes: { "system.memory.state": "used", ...SAMPLES },
  },
  {
    id: "gpu",
    title: "GPU",
    unit: "share",
    name: "hw.gpu.utilization",
    attributes: { "hw.gpu.task": "general", [DEVICE]: "", ...SAMPLES },
  },
  {
    id: "disk",
    title: "Busiest disk",
    unit: "share",
    name: "system.disk.io_time",
    attributes: { [DEVICE]: "highest", ...SAMPLES },
  },
  {
    id: "filesystem",
    title: "Fullest file system",
    unit: "share",
    name: "system.filesystem.utilization",
    attributes: { "system.filesystem.state": "used", [DEVICE]: "highest", ...SAMPLES },
  },
  {
    id: "received",
    title: "Network, received",
    unit: "bytes a second",
    name: "system.network.io",
    attributes: { "network.io.direction": "receive", ...SAMPLES },
  },
  {
    id: "sent",
    title: "Network, sent",
    unit: "bytes a second",
    name: "system.network.io",
    attributes: { "network.io.direction": "transmit", ...SAMPLES },
  },
];

/** The metric of an id; undefined where there is none. */
export function metricOf(id: string): Metric | undefined {
  return METRICS.find((metric) => metric.id === id);
}

/** The API's query for the values of a metric by node. */
export function valuesQuery({ name, attributes }: Metric): string {
  const pairs = Object.entries(attributes).map(([key, value]) => `${key}=${value}`);
  return `?${new URLSearchParams({ name, attributes: pairs.join(";") })}`;
}

/** Whether a metric of an answer is the given one. */
export function isMetric({ name, attributes }: Metric, found: Pick<Metric, "name" | "attributes">): boolean {
  return name === found.name && Object.entries(attributes).every(([key, value]) => (found.attributes[key] ?? "") === value);
}
