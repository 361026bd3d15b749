// Where a table goes: into a file that the user chose, as it comes, or where browsers can't do that among the downloads.

import type { Target } from "./parts.ts";

type Rows = Parameters<Target["add"]>[0];

/** What TypeScript doesn't know, as some browsers only have it. */
interface ChosenFile extends FileSystemFileHandle {
  remove?: () => Promise<void>;
}

declare global {
  interface Window {
    showSaveFilePicker?: (asked: {
      suggestedName: string;
      types: { description: string; accept: Record<string, string[]> }[];
    }) => Promise<ChosenFile>;
  }
}

const KIND = "text/csv";
const KEPT_MS = 60_000;

/** To be called while a click is handled; null where the user chose no file. Frames of other sites can't let choose. */
export async function targetFor(name: string): Promise<Target | null> {
  if (!window.showSaveFilePicker) return new Download(name);
  try {
    const types = [{ description: "CSV", accept: { [KIND]: [".csv"] } }];
    const chosen = await window.showSaveFilePicker({ suggestedName: name, types });
    return new Saved(chosen, await chosen.createWritable());
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return null;
    return new Download(name);
  }
}

/** Takes no memory but for what is under way. */
class Saved implements Target {
  #size = 0;
  readonly #chosen: ChosenFile;
  readonly #file: FileSystemWritableFileStream;

  constructor(chosen: ChosenFile, file: FileSystemWritableFileStream) {
    this.#chosen = chosen;
    this.#file = file;
  }

  async add(rows: Rows): Promise<void> {
    let size = this.#size;
    await this.#file.truncate(size); // what came of a part that failed
    const measure = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, out) {
        size += chunk.length;
        out.enqueue(chunk);
      },
    });
    await rows.pipeThrough(measure).pipeTo(this.#file, { preventClose: true, preventAbort: true });
    this.#size = size;
  }

  save(): Promise<void> {
    return this.#file.close();
  }

  /** Choosing the file has made it, empty. */
  async discard(): Promise<void> {
    await this.#file.abort();
    if ((await this.#chosen.getFile()).size === 0) await this.#chosen.remove?.();
  }
}

/** Browsers keep blobs on the disk where these are large. */
class Download implements Target {
  #parts: Blob[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  async add(rows: Rows): Promise<void> {
    this.#parts.push(await new Response(rows).blob());
  }

  async save(): Promise<void> {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(this.#parts, { type: KIND }));
    link.download = this.#name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
  }

  async discard(): Promise<void> {
    this.#parts = [];
  }
}
