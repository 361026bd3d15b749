// The charts of a node's telemetry; only those for which it has data.

import { parseDuration } from "../../format/durations.ts";
import { customCharts } from "./custom.ts";
import { type Line, meanOf, remainderOf, sumOf } from "./lines.ts";
import type { Series, Telemetry } from "./model.ts";
import {
  busyOf,
  fileSystemUsage,
  latestMaximum,
  lineOf,
  realNetworks,
  type SeriesSet,
  selectSeries,
  wholeDisks,
} from "./selection.ts";
import type { Unit } from "./units.ts";

/**
 * `limit` is the capacity, such as the size of the memory; `lineCount` includes the lines that aren't drawn. Where lines
 * only summarize many devices, `members` has one for each.
 */
export interface ChartData {
  id: string;
  title: string;
  unit: Unit;
  lines: Line[];
  limit: number | null;
  lineCount: number;
  members?: Line[];
}

/** The query for all charts, in one request; without the series of single cores. */
export const CHART_QUERY = {
  name: [
    "system.cpu.utilization",
    "system.cpu.load_average.1m",
    "system.cpu.logical.count",
    "system.memory.usage",
    "system.memory.limit",
    "system.memory.linux.available",
    "system.paging.usage",
    "system.disk.io",
    "system.disk.io_time",
    "system.filesystem.usage",
    "system.filesystem.limit",
    "system.filesystem.utilization",
    "system.network.io",
    "system.process.count",
    "batchscope.memory.oom_kills",
    "hw.errors",
    "hw.gpu",
    "batchscope.gpu.throttled_time",
    "hw.power",
    "hw.temperature",
    "hw.network.io",
    "custom",
  ].join(","),
  attributes: "cpu.logical_number=",
};
/** The query for the map of cores: the idle time of each. */
export const CORE_QUERY = { name: "system.cpu.utilization", attributes: "cpu.mode=idle" };
export const CORE_ATTRIBUTE = "cpu.logical_number";

const MAX_LINES = 4;
/** The attribute of sensors in a part of a GPU. */
const SENSOR_LOCATION = "hw.sensor_location";
const THROTTLE_REASONS: Record<string, string> = {
  power_cap: "power cap",
  thermal: "thermal",
  hardware_thermal: "hardware thermal",
  power_brake: "power brake",
  sync_boost: "sync boost",
};
const DISK_DIRECTIONS = [["read", "read"], ["write", "written"]] as const;
const NETWORK_DIRECTIONS = [["receive", "received"], ["transmit", "sent"]] as const;

export function seriesSetOf({ value, step }: Telemetry): SeriesSet {
  return { series: value, step: parseDuration(step) };
}

/** Charts that have data, the most often needed ones first. */
export function chartsOf(set: SeriesSet): ChartData[] {
  const all = [...machine(set), ...traffic(set), ...graphics(set), ...processes(set), ...customCharts(set, MAX_LINES)];
  return all.filter(({ lines }) => lines.some(({ values }) => values.length));
}

function machine(set: SeriesSet): ChartData[] {
  const idle = selectSeries(set, "system.cpu.utilization", { "cpu.mode": "idle" });
  const swap = lineOf(set, "in use", selectSeries(set, "system.paging.usage", { "system.paging.state": "used" }));
  const isSwapping = swap?.values.some(({ max }) => max > 0);
  return [
    chart("cpu", "CPU", "share", [busyOf(set, "in use", idle)]),
    chart(
      "memory",
      "Memory",
      "bytes",
      [memoryLine(set)],
      latestMaximum(set, "system.memory.limit"),
    ),
    chart("swap", "Swap", "bytes", isSwapping ? [swap] : []),
  ];
}

/** Memory in use; without it the size less what is available, or what is free. */
function memoryLine(set: SeriesSet): Line | null {
  const line = (label: string, name: string, state?: string) =>
    lineOf(set, label, selectSeries(set, name, state ? { "system.memory.state": state } : {}));
  const available = line("in use", "system.memory.linux.available");
  const limit = line("", "system.memory.limit");
  return (
    line("in use", "system.memory.usage", "used") ??
    (available && limit && { ...available, values: remainderOf(limit.values, available.values) }) ??
    line("free", "system.memory.usage", "free")
  );
}

function traffic(set: SeriesSet): ChartData[] {
  const disks = (direction: string) => wholeDisks(selectSeries(set, "system.disk.io", { "disk.io.direction": direction }));
  const readAndWritten = DISK_DIRECTIONS.map(([direction, label]) => lineOf(set, label, disks(direction), sumOf));
  const busy = wholeDisks(selectSeries(set, "system.disk.io_time"));
  const networks = (name: string, direction: string) => realNetworks(selectSeries(set, name, { "network.io.direction": direction }));
  const ways = (name: string) =>
    NETWORK_DIRECTIONS.map(([direction, label]) => lineOf(set, label, networks(name, direction), sumOf));
  return [
    chart("disk", "Disks", "bytes a second", readAndWritten),
    chart("busy", "Disk busy time", "share", eachOrMean(set, busy, "system.device")),
    chart("filesystem", "File systems", "share", fileSystemUsage(set)),
    chart("network", "Network", "bytes a second", ways("system.network.io")),
    chart("infiniband", "InfiniBand", "bytes a second", ways("hw.network.io")),
  ];
}

function graphics(set: SeriesSet): ChartData[] {
  const gpu = { "hw.type": "gpu" };
  const of = (id: string, title: string, unit: Unit, series: Series[], limit: number | null = null) => {
    const members = each(set, series, "hw.id", "GPU ");
    const drawn = chart(id, title, unit, extremesOf(set, series, members), limit);
    return members.length > MAX_LINES ? { ...drawn, members } : drawn;
  };
  const memory = latestMaximum(set, "hw.gpu.memory.limit", gpu);
  const sensors = selectSeries(set, "hw.temperature", gpu);
  const whole = sensors.filter(({ attributes }) => !(SENSOR_LOCATION in attributes));
  const measured = new Set(whole.map(({ attributes }) => attributes["hw.id"]));
  const edges = sensors.filter(
    ({ attributes }) => attributes[SENSOR_LOCATION] === "edge" && !measured.has(attributes["hw.id"]),
  );
  const reasons = selectSeries(set, "batchscope.gpu.throttled_time", gpu);
  const throttled = eachOrMean(set, reasons, "batchscope.gpu.throttle.reason")
    .map((line) => line && { ...line, name: THROTTLE_REASONS[line.name] ?? line.name })
    .filter((line) => line?.values.some(({ max }) => max > 0));
  return [
    of("gpu", "GPU", "share", selectSeries(set, "hw.gpu.utilization", { ...gpu, "hw.gpu.task": "general" })),
    of("gpu-memory", "GPU memory", "bytes", selectSeries(set, "hw.gpu.memory.usage", gpu), memory),
    of("gpu-power", "GPU power", "watts", selectSeries(set, "hw.power", gpu)),
    of("gpu-temperature", "GPU temperature", "degrees", [...whole, ...edges]),
    chart("gpu-throttled", "GPU throttling", "share", throttled),
  ];
}

function processes(set: SeriesSet): ChartData[] {
  const load = lineOf(set, "1 min average", selectSeries(set, "system.cpu.load_average.1m"));
  const inState = (state: string, label: string) =>
    lineOf(set, label, selectSeries(set, "system.process.count", { "process.state": state }));
  return [
    chart("load", "Load", "number", [load], latestMaximum(set, "system.cpu.logical.count")),
    chart("processes", "Processes", "number", [inState("running", "running"), inState("blocked", "blocked on I/O")]),
  ];
}

function chart(id: string, title: string, unit: Unit, lines: (Line | null)[], limit: number | null = null): ChartData {
  const all = lines.filter((line) => line !== null);
  return { id, title, unit, lines: all.slice(0, MAX_LINES), limit, lineCount: all.length };
}

/** A line for each value of an attribute. */
function each(set: SeriesSet, series: Series[], by: string, before = ""): Line[] {
  const names = [...new Set(series.map(({ attributes }) => attributes[by] ?? ""))].sort(compareNaturally);
  return names.flatMap(
    (name) => lineOf(set, before + name, series.filter(({ attributes }) => (attributes[by] ?? "") === name)) ?? [],
  );
}

/** A line for each value of an attribute or, if there are many, one line of their mean. */
function eachOrMean(set: SeriesSet, series: Series[], by: string): (Line | null)[] {
  const lines = each(set, series, by);
  return lines.length > MAX_LINES ? [lineOf(set, `mean of ${lines.length}`, series, meanOf)] : lines;
}

/** All lines or, if there are many, their mean, the line that was highest on average, and the lowest one. */
function extremesOf(set: SeriesSet, series: Series[], lines: Line[]): (Line | null)[] {
  if (lines.length <= MAX_LINES) return lines;
  const sorted = [...lines].sort((one, other) => averageOf(other) - averageOf(one));
  const labelled = (label: string, line: Line | undefined) => line && { ...line, name: `${label}: ${line.name}` };
  return [
    lineOf(set, `mean of ${lines.length}`, series, meanOf),
    labelled("highest", sorted[0]) ?? null,
    labelled("lowest", sorted.at(-1)) ?? null,
  ];
}

function averageOf({ values }: Line): number {
  return values.reduce((sum, { mean }) => sum + mean, 0) / Math.max(1, values.length);
}

/** "2" before "10". */
export function compareNaturally(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
