// Texts of what an ended attempt of a task used; "–" for figures that the agent didn't write.

import { formatSeconds } from "../../format/durations.ts";
import { formatCount, formatRate, formatShare } from "../../format/numbers.ts";
import type { EndedAttempt, TaskTelemetryAnswer } from "./model.ts";
import { valueText } from "./units.ts";

const UNKNOWN = "–";
const MEMORY_SOURCES: Record<string, string> = { kernel: "by the kernel", samples: "at samples" };

/** A figure, and a note on its meaning or precision. */
export interface Figure {
  text: string;
  note: string;
}

/** The number of cores of the node if the attempt is in the shown run, whose node reported it; else null. */
export function coresOf({ startTime, endTime }: EndedAttempt, answer: TaskTelemetryAnswer): number | null {
  const cores = answer.telemetry?.facts.cpuCount ?? null;
  if (!cores || !answer.startTime) return null;
  const end = answer.endTime ? Date.parse(answer.endTime) : Number.POSITIVE_INFINITY;
  return Date.parse(startTime) < end && Date.parse(endTime) > Date.parse(answer.startTime) ? cores : null;
}

/** "1 min 30 s", with how late its end may have been seen. */
export function runTimeOf({ duration, durationUncertainty }: EndedAttempt): Figure {
  if (duration === null) return { text: UNKNOWN, note: "" };
  return {
    text: formatSeconds(duration),
    note: durationUncertainty ? `up to ${formatSeconds(durationUncertainty)} less` : "",
  };
}

/** "2 min 1 s", with the mean number of cores, their share of the node's, and how much may be missing. */
export function cpuTimeOf({ cpuSeconds, cpuMissed, cpuSource, duration }: EndedAttempt, cores: number | null): Figure {
  if (cpuSeconds === null) return { text: UNKNOWN, note: "" };
  const used = duration ? cpuSeconds / duration : null;
  const notes = [
    used !== null && `${formatRate(used)} ${used === 1 ? "core" : "cores"} on average`,
    used !== null && cores && `${formatShare(used, cores)} of ${formatCount(cores)}`,
    missedText(cpuMissed, cpuSource),
  ];
  return { text: formatSeconds(cpuSeconds), note: notes.filter(Boolean).join(", ") };
}

/** "1.2 GiB", with whose figure it is. */
export function memoryPeakOf({ memoryPeak, memorySource }: EndedAttempt): Figure {
  if (memoryPeak === null) return { text: UNKNOWN, note: "" };
  return { text: valueText(memoryPeak, "bytes"), note: MEMORY_SOURCES[memorySource ?? ""] ?? "" };
}

export function bytesText(bytes: number | null): string {
  return bytes === null ? UNKNOWN : valueText(bytes, "bytes");
}

export function countText(count: number | null): string {
  return count === null ? UNKNOWN : formatCount(count);
}

/** "2 GiB", with the mean number of GPUs in use. */
export function gpuOf({ gpuMemoryPeak, gpuUsage }: EndedAttempt): Figure {
  if (gpuMemoryPeak === null) return { text: UNKNOWN, note: "" };
  const note = gpuUsage === null ? "" : `${formatRate(gpuUsage)} ${gpuUsage === 1 ? "GPU" : "GPUs"} on average`;
  return { text: valueText(gpuMemoryPeak, "bytes"), note };
}

function missedText(missed: number | null, source: string | null): string {
  if (missed === null) return "";
  if (missed) return `at most ${formatSeconds(Math.max(missed, 0.1))} missing`;
  return source === "exit_accounting" ? "complete by exit accounting" : "";
}
