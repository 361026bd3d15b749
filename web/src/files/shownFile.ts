// The part of a file that the page shows: bytes from one offset to another, which grow at both ends, and their text.

export type Bytes = Uint8Array<ArrayBuffer>;

/** A part of a file as the API answered it. */
export interface FilePart {
  /** The offset of the first byte. */
  start: number;
  /** The offset of the next part: of a growing file before its last line. */
  next: number;
  /** The size of the whole file. */
  size: number;
  /** Null for a file that is no text. */
  encoding: string | null;
  bytes: Bytes;
  /** When it was kept, null where it is as the node has it. Of a kept file there is only the end. */
  keptAt: string | null;
}

/** The most bytes that stay on the page; a followed file loses its beginning. */
export const MAX_SHOWN = 1024 * 1024;

export function partOf(headers: Pick<Headers, "get">, bytes: Bytes): FilePart {
  const offset = (name: string, otherwise: number) => Number(headers.get(`Batchscope-${name}`) ?? otherwise);
  const start = offset("Offset", 0);
  const type = headers.get("Content-Type") ?? "";
  return {
    start,
    next: offset("Next-Offset", start + bytes.length),
    size: offset("File-Size", start + bytes.length),
    encoding: type.startsWith("text/plain") ? (/charset=([\w-]+)/i.exec(type)?.[1] ?? "utf-8") : null,
    bytes,
    keptAt: headers.get("Batchscope-Kept-At"),
  };
}

/** The part with a later one behind it. If the file is shorter than before, it was begun anew: only the later one. */
export function appended(shown: FilePart, later: FilePart): FilePart {
  if (later.start !== shown.next || later.size < shown.next) return later;
  const bytes = joined(shown.bytes, later.bytes);
  const dropped = Math.max(0, bytes.length - MAX_SHOWN);
  return { ...later, start: shown.start + dropped, bytes: bytes.slice(dropped) };
}

/** The part with an earlier one before it. */
export function prepended(shown: FilePart, earlier: FilePart): FilePart {
  const bytes = earlier.bytes.slice(0, shown.start - earlier.start);
  if (earlier.start + bytes.length !== shown.start) return shown;
  return { ...shown, start: earlier.start, bytes: joined(bytes, shown.bytes) };
}

function joined(first: Bytes, second: Bytes): Bytes {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/**
 * The lines, without colours and overwritten progress bars. A line whose beginning is missing is left out, and so is a
 * sign that is cut by the end.
 */
export function linesOf({ bytes, encoding, start }: FilePart): string[] {
  const text = new TextDecoder(encoding ?? "utf-8").decode(bytes, { stream: true });
  const lines = text.split(/\r?\n/);
  if (start > 0 && lines.length > 1) lines.shift();
  if (lines.at(-1) === "") lines.pop();
  return lines.map(readable);
}

/** The last lines that aren't empty. */
export function lastLines(part: FilePart, number: number): string[] {
  const lines = linesOf(part);
  while (lines.length && !lines.at(-1)?.trim()) lines.pop();
  return lines.slice(-number);
}

/** Colours and movements of terminals, which begin with an escape. */
const TERMINAL_CODES = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|[()][0-9AB]|[=>78])`, "g");

function readable(line: string): string {
  const plain = line.replace(TERMINAL_CODES, "").replace(/\r+$/, "");
  return plain.slice(plain.lastIndexOf("\r") + 1).replaceAll("\t", "    ");
}
