// Targets of an export: a file that the user chose, written part by part, or a download in browsers that can't do that.

import type { CsvTarget } from "./csvParts.ts";

type Rows = Parameters<CsvTarget["add"]>[0];

/** TypeScript doesn't know these, as only some browsers have them. */
interface ChosenFile extends FileSystemFileHandle {
  remove?: () => Promise<void>;
}

declare global {
  interface Window {
    showSaveFilePicker?: (options: {
      suggestedName: string;
      types: { description: string; accept: Record<string, string[]> }[];
    }) => Promise<ChosenFile>;
  }
}

const MIME_TYPE = "text/csv";
const REVOKE_DELAY_MS = 60_000;

/** Lets the user choose a file; null if they cancel. Call it in a click handler. Frames of other sites get a download. */
export async function chooseTarget(name: string): Promise<CsvTarget | null> {
  if (!window.showSaveFilePicker) return new DownloadTarget(name);
  try {
    const types = [{ description: "CSV", accept: { [MIME_TYPE]: [".csv"] } }];
    const chosen = await window.showSaveFilePicker({ suggestedName: name, types });
    return new FileTarget(chosen, await chosen.createWritable());
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return null;
    return new DownloadTarget(name);
  }
}

/** Writes each part to the file, so that only one is in memory. */
class FileTarget implements CsvTarget {
  #size = 0;
  readonly #chosen: ChosenFile;
  readonly #file: FileSystemWritableFileStream;

  constructor(chosen: ChosenFile, file: FileSystemWritableFileStream) {
    this.#chosen = chosen;
    this.#file = file;
  }

  async add(rows: Rows): Promise<void> {
    let size = this.#size;
    await this.#file.truncate(size); // removes the rows of a part that failed
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

  /** Removes the file if it is empty, as choosing it created it. */
  async discard(): Promise<void> {
    await this.#file.abort();
    if ((await this.#chosen.getFile()).size === 0) await this.#chosen.remove?.();
  }
}

/** Collects the parts as blobs; browsers keep large ones on disk. */
class DownloadTarget implements CsvTarget {
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
    link.href = URL.createObjectURL(new Blob(this.#parts, { type: MIME_TYPE }));
    link.download = this.#name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_DELAY_MS);
  }

  async discard(): Promise<void> {
    this.#parts = [];
  }
}
