// What is drawn of a node's measures: a chart for each thing that it has, and none for what it hasn't.

import { parseDuration } from "../../format/durations.ts";
import { type Line, meanOf, sumOf } from "./lines.ts";
import type { Series, Telemetry } from "./model.ts";
import { busyOf, fillings, found, lastOf, lineOf, type Measures, realNetworks, wholeDisks } from "./picking.ts";
import type { Unit } from "./units.ts";

/** `limit` is what there is at most, and `most` how many lines there would be if all were drawn. */
export interface Chart {
  id: string;
  title: string;
  unit: Unit;
  lines: Line[];
  limit: number | null;
  most: number;
}

/** All that the charts need, asked for at once; of processors the whole alone. */
export const ASKED = {
  name: [
    "system.cpu.utilization",
    "system.cpu.load_average.1m",
    "system.cpu.logical.count",
    "system.memory.usage",
    "system.memory.limit",
    "system.paging.usage",
    "system.disk.io",
    "system.disk.io_time",
    "system.filesystem.usage",
    "system.filesystem.limit",
    "system.network.io",
    "system.process.count",
    "batchscope.memory.oom_kills",
    "hw.errors",
    "hw.gpu",
    "batchscope.gpu.throttled_time",
    "hw.power",
    "hw.temperature",
    "hw.network.io",
  ].join(","),
  attributes: "cpu.logical_number=",
};
/** Each core's rest, for the map of cores. */
export const ASKED_OF_CORES = { name: "system.cpu.utilization", attributes: "cpu.mode=idle" };
export const CORE = "cpu.logical_number";

const MOST_LINES = 4;
/** The attribute of sensors that aren't of a whole GPU. */
const LOCATION = "hw.sensor_location";
const SLOWED_BY: Record<string, string> = {
  power_cap: "power cap",
  thermal: "thermal",
  hardware_thermal: "hardware thermal",
  power_brake: "power brake",
  sync_boost: "sync boost",
};
const USED = { "system.memory.state": "used" };
const DISK_WAYS = [["read", "read"], ["write", "written"]] as const;
const NETWORK_WAYS = [["receive", "received"], ["transmit", "sent"]] as const;

export function measuresOf({ value, step }: Telemetry): Measures {
  return { series: value, step: parseDuration(step) };
}

/** Those that have something to show, in the order in which one looks at them. */
export function chartsOf(measures: Measures): Chart[] {
  const all = [...machine(measures), ...traffic(measures), ...graphics(measures), ...processes(measures)];
  return all.filter(({ lines }) => lines.some(({ values }) => values.length));
}

function machine(measures: Measures): Chart[] {
  const idle = found(measures, "system.cpu.utilization", { "cpu.mode": "idle" });
  const swap = lineOf(measures, "in use", found(measures, "system.paging.usage", { "system.paging.state": "used" }));
  const isSwapping = swap?.values.some(({ max }) => max > 0);
  return [
    chart("cpu", "CPU", "share", [busyOf(measures, "in use", idle)]),
    chart(
      "memory",
      "Memory",
      "bytes",
      [lineOf(measures, "in use", found(measures, "system.memory.usage", USED))],
      lastOf(measures, "system.memory.limit"),
    ),
    chart("swap", "Swap", "bytes", isSwapping ? [swap] : []),
  ];
}

function traffic(measures: Measures): Chart[] {
  const disks = (way: string) => wholeDisks(found(measures, "system.disk.io", { "disk.io.direction": way }));
  const readAndWritten = DISK_WAYS.map(([way, words]) => lineOf(measures, words, disks(way), sumOf));
  const busy = wholeDisks(found(measures, "system.disk.io_time"));
  const networks = (name: string, way: string) => realNetworks(found(measures, name, { "network.io.direction": way }));
  const ways = (name: string) =>
    NETWORK_WAYS.map(([way, words]) => lineOf(measures, words, networks(name, way), sumOf));
  return [
    chart("disk", "Disks", "bytes a second", readAndWritten),
    chart("busy", "Disk busy time", "share", each(measures, busy, "system.device")),
    chart("filesystem", "File systems", "share", fillings(measures)),
    chart("network", "Network", "bytes a second", ways("system.network.io")),
    chart("infiniband", "InfiniBand", "bytes a second", ways("hw.network.io")),
  ];
}

function graphics(measures: Measures): Chart[] {
  const gpu = { "hw.type": "gpu" };
  const of = (name: string, wanted: Record<string, string> = gpu) =>
    each(measures, found(measures, name, wanted), "hw.id", "GPU ");
  const memory = lastOf(measures, "hw.gpu.memory.limit", gpu);
  const sensors = found(measures, "hw.temperature", gpu);
  const whole = sensors.filter(({ attributes }) => !(LOCATION in attributes));
  const told = new Set(whole.map(({ attributes }) => attributes["hw.id"]));
  const edges = sensors.filter(({ attributes }) => attributes[LOCATION] === "edge" && !told.has(attributes["hw.id"]));
  const throttled = each(measures, found(measures, "batchscope.gpu.throttled_time", gpu), "batchscope.gpu.throttle.reason")
    .map((line) => line && { ...line, name: SLOWED_BY[line.name] ?? line.name })
    .filter((line) => line?.values.some(({ max }) => max > 0));
  return [
    chart("gpu", "GPU", "share", of("hw.gpu.utilization", { ...gpu, "hw.gpu.task": "general" })),
    chart("gpu-memory", "GPU memory", "bytes", of("hw.gpu.memory.usage"), memory),
    chart("gpu-power", "GPU power", "watts", of("hw.power")),
    chart("gpu-temperature", "GPU temperature", "degrees", each(measures, [...whole, ...edges], "hw.id", "GPU ")),
    chart("gpu-throttled", "GPU throttling", "share", throttled),
  ];
}

function processes(measures: Measures): Chart[] {
  const load = lineOf(measures, "1 min average", found(measures, "system.cpu.load_average.1m"));
  const inState = (state: string, words: string) =>
    lineOf(measures, words, found(measures, "system.process.count", { "process.state": state }));
  return [
    chart("load", "Load", "number", [load], lastOf(measures, "system.cpu.logical.count")),
    chart("processes", "Processes", "number", [inState("running", "running"), inState("blocked", "blocked on I/O")]),
  ];
}

/** Within a limit, or up to the most that came. */
function chart(id: string, title: string, unit: Unit, lines: (Line | null)[], limit: number | null = null): Chart {
  const all = lines.filter((line) => line !== null);
  return { id, title, unit, lines: all.slice(0, MOST_LINES), limit, most: all.length };
}

/** A line for each of few things, and what many have in common. */
function each(measures: Measures, series: Series[], by: string, before = ""): (Line | null)[] {
  const names = [...new Set(series.map(({ attributes }) => attributes[by] ?? ""))].sort(inOrder);
  if (names.length > MOST_LINES) return [lineOf(measures, `mean of ${names.length}`, series, meanOf)];
  return names.map((name) =>
    lineOf(measures, before + name, series.filter(({ attributes }) => (attributes[by] ?? "") === name)),
  );
}

/** "2" before "10". */
export function inOrder(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}
