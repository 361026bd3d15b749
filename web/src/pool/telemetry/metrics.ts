// The metrics of a pool's nodes: the usual ones, which the page charts, and all others by which the map can be coloured.

import type { Unit } from "../../telemetry/series/units.ts";
import type { MetricName } from "./model.ts";

export interface Metric {
  /** Stands in addresses. */
  id: string;
  title: string;
  unit: Unit;
  name: string;
  /** An empty value is that of metrics without the attribute. */
  attributes: Record<string, string>;
  /** Whether values are percentages up to 100, in place of shares up to 1. */
  isPercentage?: boolean;
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

/** The usual metric of an id; undefined where there is none. */
export function metricOf(id: string): Metric | undefined {
  return METRICS.find((metric) => metric.id === id);
}

/** Units with texts of their own in values. */
const UNITS: Record<string, Unit> = { By: "bytes", "By/s": "bytes a second", W: "watts", Cel: "degrees" };
/** The same in words, for a list of metrics. */
const UNIT_WORDS: Partial<Record<Unit, string>> = {
  share: "%",
  bytes: "bytes",
  "bytes a second": "bytes a second",
  watts: "W",
  degrees: "°C",
};
const SHARE = /^(system|hw|batchscope|container)\..*(utilization|_ratio|activity)$/;
const IN_ADDRESS = /^[^.;]+\.[^;]+(;[^;=]+=[^;]*)*$/;

/** A metric that isn't a usual one, with a title from its name, attributes and unit; values may have the unit instead. */
export function otherMetricOf({ name, attributes, unit }: MetricName): Metric {
  const shown: Unit = unit === "1" && SHARE.test(name) ? "share" : (UNITS[unit] ?? "value");
  const text = shown === "value" && unit !== "1" ? unit.replaceAll(/[{}]/g, "") : "";
  const title = [name, ...Object.values(attributes)].join(" · ") + (text && ` (${text})`);
  return { id: idOf(name, attributes), title, unit: shown, name, attributes, isPercentage: unit === "%" };
}

/** "hw.temperature (°C)": the title with the unit, also where values have it. */
export function optionText({ title, unit }: Metric): string {
  const words = UNIT_WORDS[unit];
  return words ? `${title} (${words})` : title;
}

function idOf(name: string, attributes: Record<string, string>): string {
  return [name, ...Object.entries(attributes).map(([key, value]) => `${key}=${value}`)].join(";");
}

/** The name and attributes of a metric that stands in an address; null for none, and for usual ones. */
export function nameInAddress(id: string): Omit<MetricName, "unit"> | null {
  if (!IN_ADDRESS.test(id)) return null;
  const [name = "", ...pairs] = id.split(";");
  return { name, attributes: Object.fromEntries(pairs.map((pair) => splitOnce(pair))) };
}

function splitOnce(pair: string): [key: string, value: string] {
  const at = pair.indexOf("=");
  return [pair.slice(0, at), pair.slice(at + 1)];
}

/** The metrics of a list that aren't usual ones, and the chosen one, by title. */
export function otherMetrics(listed: MetricName[], chosen: string): Metric[] {
  const found = listed.filter((each) => !METRICS.some((metric) => isMetric(metric, each))).map(otherMetricOf);
  const named = nameInAddress(chosen);
  if (named && !found.some(({ id }) => id === chosen)) found.push({ ...otherMetricOf({ ...named, unit: "" }), id: chosen });
  return found.sort((one, other) => one.title.localeCompare(other.title, "en", { numeric: true }));
}

/** The API's query for the values of a metric by node. */
export function valuesQuery({ name, attributes }: Pick<Metric, "name" | "attributes">): string {
  const pairs = Object.entries(attributes).map(([key, value]) => `${key}=${value}`);
  return `?${new URLSearchParams({ name, ...(pairs.length && { attributes: pairs.join(";") }) })}`;
}

/** Whether a metric of an answer is the given one. */
export function isMetric({ name, attributes }: Metric, found: Pick<Metric, "name" | "attributes">): boolean {
  return name === found.name && Object.entries(attributes).every(([key, value]) => (found.attributes[key] ?? "") === value);
}
