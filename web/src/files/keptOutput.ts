// What was kept of a failed task's output, for when its files can't be read any more.

import type { FilePart } from "./shownFile.ts";

export interface KeptStream {
  /** Null where nothing was kept; then `message` says why. */
  text: string | null;
  size: number | null;
  offset: number | null;
  message: string | null;
}

export interface KeptOutput {
  keptTime: string | null;
  endTime: string | null;
  /** False where the task has run again since; start tasks are asked for by run. */
  latestRun?: boolean | null;
  stderr: KeptStream;
  stdout: KeptStream;
}

export const STREAMS = { "stderr.txt": "stderr", "stdout.txt": "stdout" } as const;
export type StreamFile = keyof typeof STREAMS;

/** A kept stream as a part of the file that it is the end of. */
export function keptPart(kept: KeptOutput | null, name: StreamFile): FilePart | null {
  const { text = null, size = null, offset = null } = kept?.[STREAMS[name]] ?? {};
  if (text === null) return null;
  const bytes = new TextEncoder().encode(text);
  const start = offset ?? 0;
  const next = start + bytes.length;
  return { start, next, size: size ?? next, encoding: "utf-8", bytes, keptAt: kept?.keptTime ?? null };
}

/** Whether a kept run isn't the one that began at `latestStart`, as far as that is known. */
export function isOfEarlierRun({ latestRun, endTime }: KeptOutput, latestStart: string | null): boolean {
  return latestRun === false || beginsAfter(latestStart, endTime);
}

/** False where a time isn't known. */
export function beginsAfter(start: string | null, end: string | null): boolean {
  return start !== null && end !== null && Date.parse(start) >= Date.parse(end);
}
