// Which series of a node make a line: by name and attributes, whole disks and real networks and file systems only.

import { type Line, meanOf, reachOf, rest, sharesOf, sumOf, type Value, valuesOf } from "./lines.ts";
import type { Series } from "./model.ts";

/** Of series that an agent summed up itself: its single samples, where it sent these, too, say the same. */
const SUMMED = "batchscope.source";
const DEVICE = "system.device";
const MOUNT = "system.filesystem.mountpoint";
const VIRTUAL_DISK = /^(loop|ram|zram|sr|fd|dm-|md)\d/;
const VIRTUAL_NETWORK = /^(lo|docker|veth|br-|virbr|cni|flannel|ifb|enP\d)/;
const MADE_UP = new Set(["tmpfs", "devtmpfs", "overlay", "squashfs", "aufs", "ramfs", "proc", "sysfs", "fuse.lxcfs"]);

/** What was measured in steps of so many milliseconds. */
export interface Measures {
  series: Series[];
  step: number;
}

/** Series of a name that have some attributes. */
export function found({ series }: Measures, name: string, wanted: Record<string, string> = {}): Series[] {
  const all = series.filter(
    (each) => each.name === name && Object.entries(wanted).every(([key, value]) => each.attributes[key] === value),
  );
  const single = all.filter(({ attributes }) => !(SUMMED in attributes));
  return single.length ? single : all;
}

/** A line of series put together, null of none. */
export function lineOf(
  { step }: Measures,
  name: string,
  series: Series[],
  join: (all: Value[][]) => Value[] = meanOf,
): Line | null {
  const [first] = series;
  if (!first) return null;
  return { name, values: join(series.map((each) => valuesOf(each, step))), reach: reachOf(first, step) };
}

/** How much of the processor was in use, of what it told of its rest. */
export function busyOf(measures: Measures, name: string, idle: Series[]): Line | null {
  const line = lineOf(measures, name, idle);
  return line && { ...line, values: rest(line.values) };
}

/** The last of what there is in all, as the size of the memory. */
export function lastOf(measures: Measures, name: string, wanted?: Record<string, string>): number | null {
  return lineOf(measures, "", found(measures, name, wanted))?.values.at(-1)?.max ?? null;
}

/** Series of disks that aren't parts of another one, or made of others. */
export function wholeDisks(series: Series[]): Series[] {
  const names = new Set(series.map(({ attributes }) => attributes[DEVICE] ?? ""));
  const isPart = (name: string) => names.has(name.replace(/p?\d+$/, "")) && /\d$/.test(name);
  const whole = series.filter(({ attributes: { [DEVICE]: name = "" } }) => !VIRTUAL_DISK.test(name) && !isPart(name));
  return whole.length ? whole : series;
}

/**
 * Series of networks that lead out of the machine. What goes through Azure's accelerated networking is counted twice: in
 * the interface that the machine uses, eth0, and in the one of the hardware below, enP and more.
 */
export function realNetworks(series: Series[]): Series[] {
  const real = series.filter(({ attributes }) => !VIRTUAL_NETWORK.test(attributes["network.interface.name"] ?? ""));
  return real.length ? real : series;
}

/** How full the file systems are that keep something, the fullest first. */
export function fillings(measures: Measures): Line[] {
  const usage = found(measures, "system.filesystem.usage").filter(
    ({ attributes }) => !MADE_UP.has(attributes["system.filesystem.type"] ?? ""),
  );
  const mounts = new Set(usage.map(({ attributes }) => attributes[MOUNT] ?? ""));
  const lines = [...mounts].flatMap((mount) => {
    const ofMount = usage.filter(({ attributes }) => (attributes[MOUNT] ?? "") === mount);
    const inState = (state: string) => ofMount.filter(({ attributes }) => attributes["system.filesystem.state"] === state);
    const line = lineOf(measures, mount, inState("used"));
    const free = lineOf(measures, mount, inState("free"));
    const limit = lineOf(measures, mount, found(measures, "system.filesystem.limit", { [MOUNT]: mount }));
    const whole = limit?.values ?? (line && free && sumOf([line.values, free.values]));
    return line && whole ? [{ ...line, values: sharesOf(line.values, whole) }] : [];
  });
  return lines.sort((one, other) => (other.values.at(-1)?.mean ?? 0) - (one.values.at(-1)?.mean ?? 0));
}
