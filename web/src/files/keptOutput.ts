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
  stderr: KeptStream;
  stdout: KeptStream;
}

export const STREAMS = { "stderr.txt": "stderr", "stdout.txt": "stdout" } as const;
export type StreamFile = keyof typeof STREAMS;

/** A kept stream as a part of the file that it is the end of. */
export function keptPart({ text, size, offset }: KeptStream): FilePart | null {
  if (text === null) return null;
  const bytes = new TextEncoder().encode(text);
  const start = offset ?? 0;
  const next = start + bytes.length;
  return { start, next, size: size ?? next, encoding: "utf-8", bytes };
}
