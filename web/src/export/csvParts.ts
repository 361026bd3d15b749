// Joins a CSV table from its parts. Each part begins with the same line of headings, and its header `Link` names the
// next part. This module imports nothing, so that tests run it without a page.

type Bytes = Uint8Array<ArrayBuffer>;

export interface CsvTarget {
  /** Adds all of `rows`, or none of them if they fail. */
  add(rows: ReadableStream<Bytes>): Promise<void>;
  save(): Promise<void>;
  discard(): Promise<void>;
}

type RequestPart = (path: string, signal: AbortSignal) => Promise<Pick<Response, "body" | "headers">>;

export class CsvParts {
  /** Rows of the parts added so far. */
  rows = 0;
  #next: string | null;
  #headings: string | null = null;
  readonly #requestPart: RequestPart;
  readonly #target: CsvTarget;

  constructor(first: string, requestPart: RequestPart, target: CsvTarget) {
    this.#next = first;
    this.#requestPart = requestPart;
    this.#target = target;
  }

  /** Adds the parts to the target. Raises the error of a part; the next call continues at that part. */
  async read(signal: AbortSignal, onPart: (rows: number) => void): Promise<void> {
    while (this.#next !== null) {
      const { body, headers } = await this.#requestPart(this.#next, signal);
      const part = new HeadingFilter(this.#headings);
      await this.#target.add((body ?? new Blob().stream()).pipeThrough(new TransformStream(part)));
      signal.throwIfAborted();
      this.rows += part.rows;
      this.#headings = part.headings;
      this.#next = nextOf(headers.get("Link"));
      onPart(this.rows);
    }
  }
}

export function nextOf(link: string | null): string | null {
  return /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec(link ?? "")?.[1] ?? null;
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

/** Passes the rows of a part on, and the headings of the first part. Line breaks within quotes don't end a record. */
class HeadingFilter implements Transformer<Bytes, Bytes> {
  headings = "";
  readonly #known: string | null;
  readonly #decoder = new TextDecoder();
  #records = 0;
  #quoted = false;
  #ended = false;

  constructor(known: string | null) {
    this.#known = known;
  }

  get rows(): number {
    return Math.max(0, this.#records - 1);
  }

  transform(chunk: Bytes, out: TransformStreamDefaultController<Bytes>): void {
    const inHeadings = this.#records === 0;
    const rows = this.#scan(chunk);
    if (inHeadings) this.headings += this.#decoder.decode(chunk.subarray(0, rows), { stream: true });
    if (inHeadings && this.#records && this.#known !== null && this.headings !== this.#known) {
      throw new Error("The table's columns changed during the export; start it again.");
    }
    out.enqueue(this.#known === null ? chunk : chunk.subarray(rows));
  }

  flush(): void {
    if (!this.#ended) throw new Error("A response was incomplete; resume the export.");
  }

  /** Counts complete records, and returns the offset of the first row. */
  #scan(chunk: Bytes): number {
    let [rows, quoted, records] = [this.#records ? 0 : chunk.length, this.#quoted, this.#records];
    for (let at = 0; at < chunk.length; at++) {
      if (chunk[at] === QUOTE) quoted = !quoted;
      else if (chunk[at] === LINE_FEED && !quoted && records++ === 0) rows = at + 1;
    }
    if (chunk.length) this.#ended = chunk.at(-1) === LINE_FEED && !quoted;
    [this.#quoted, this.#records] = [quoted, records];
    return rows;
  }
}
