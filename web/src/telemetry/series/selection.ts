// Selects the series of a node that make a line: by name and attributes, and only whole disks and real networks and
// file systems.

import { complement, type Line, meanOf, reachOf, sharesOf, sumOf, type Value, valuesOf } from "./lines.ts";
import type { Series } from "./model.ts";

/** The attribute of series that an agent aggregated before sending; its single samples, if any, have the same data. */
const AGGREGATED = "batchscope.source";
const DEVICE = "system.device";
const MOUNT = "system.filesystem.mountpoint";
const VIRTUAL_DISK = /^(loop|ram|zram|sr|fd|dm-|md)\d/;
const VIRTUAL_NETWORK = /^(lo|docker|veth|br-|virbr|cni|flannel|ifb|enP\d)/;
const VIRTUAL_FILE_SYSTEMS = new Set([
  "tmpfs",
  "devtmpfs",
  "overlay",
  "squashfs",
  "aufs",
  "ramfs",
  "proc",
  "sysfs",
  "fuse.lxcfs",
]);

/** The series of one response; `step` is in milliseconds. */
export interface SeriesSet {
  series: Series[];
  step: number;
}

/** Series with a name and certain attributes. */
export function selectSeries({ series }: SeriesSet, name: string, required: Record<string, string> = {}): Series[] {
  const all = series.filter(
    (each) => each.name === name && Object.entries(required).every(([key, value]) => each.attributes[key] === value),
  );
  const samples = all.filter(({ attributes }) => !(AGGREGATED in attributes));
  return samples.length ? samples : all;
}

/** One line from several series; null if there are none. */
export function lineOf(
  { step }: SeriesSet,
  name: string,
  series: Series[],
  join: (all: Value[][]) => Value[] = meanOf,
): Line | null {
  const [first] = series;
  if (!first) return null;
  return { name, values: join(series.map((each) => valuesOf(each, step))), reach: reachOf(first, step) };
}

/** CPU usage, from series of idle time. */
export function busyOf(set: SeriesSet, name: string, idle: Series[]): Line | null {
  const line = lineOf(set, name, idle);
  return line && { ...line, values: complement(line.values) };
}

/** The latest maximum of a series, such as the size of the memory. */
export function latestMaximum(set: SeriesSet, name: string, required?: Record<string, string>): number | null {
  return lineOf(set, "", selectSeries(set, name, required))?.values.at(-1)?.max ?? null;
}

/** Series of disks without partitions, and without disks made of others. */
export function wholeDisks(series: Series[]): Series[] {
  const names = new Set(series.map(({ attributes }) => attributes[DEVICE] ?? ""));
  const isPart = (name: string) => names.has(name.replace(/p?\d+$/, "")) && /\d$/.test(name);
  const whole = series.filter(({ attributes: { [DEVICE]: name = "" } }) => !VIRTUAL_DISK.test(name) && !isPart(name));
  return whole.length ? whole : series;
}

/**
 * Series of networks outside the machine. Traffic through Azure's accelerated networking counts twice: on the interface
 * that the machine uses (eth0), and on the hardware's interface below it (enP…), which is omitted here.
 */
export function realNetworks(series: Series[]): Series[] {
  const real = series.filter(({ attributes }) => !VIRTUAL_NETWORK.test(attributes["network.interface.name"] ?? ""));
  return real.length ? real : series;
}

/** The used shares of file systems that store data, the fullest first. */
export function fileSystemUsage(set: SeriesSet): Line[] {
  const real = (name: string) =>
    selectSeries(set, name).filter(
      ({ attributes }) => !VIRTUAL_FILE_SYSTEMS.has(attributes["system.filesystem.type"] ?? ""),
    );
  const [usage, shares] = [real("system.filesystem.usage"), real("system.filesystem.utilization")];
  const mounts = new Set([...usage, ...shares].map(({ attributes }) => attributes[MOUNT] ?? ""));
  const lines = [...mounts].flatMap((mount) => {
    const inState = (state: string, series = usage) =>
      series.filter(
        ({ attributes }) => (attributes[MOUNT] ?? "") === mount && attributes["system.filesystem.state"] === state,
      );
    const line = lineOf(set, mount, inState("used"));
    const free = lineOf(set, mount, inState("free"));
    const limit = lineOf(set, mount, selectSeries(set, "system.filesystem.limit", { [MOUNT]: mount }));
    const whole = limit?.values ?? (line && free && sumOf([line.values, free.values]));
    if (line && whole) return [{ ...line, values: sharesOf(line.values, whole) }];
    if (free && limit) return [{ ...free, values: complement(sharesOf(free.values, limit.values)) }];
    const freeShare = lineOf(set, mount, inState("free", shares));
    const share = lineOf(set, mount, inState("used", shares));
    return share ? [share] : freeShare ? [{ ...freeShare, values: complement(freeShare.values) }] : [];
  });
  return lines.sort((one, other) => (other.values.at(-1)?.mean ?? 0) - (one.values.at(-1)?.mean ?? 0));
}
