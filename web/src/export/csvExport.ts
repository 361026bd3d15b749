// One export of a table to CSV, with its progress. It can be resumed after a failure, and stopped.

import { ApiError, UnreachableError } from "../api/client.ts";
import { errorMessage } from "../api/poller.ts";
import type { CsvParts, CsvTarget } from "./csvParts.ts";

export interface Progress {
  state: "running" | "failed" | "saved";
  /** Rows of the parts received so far. */
  rows: number;
  /** The reason of a failure, as a sentence. */
  reason?: string;
}

export class CsvExport {
  readonly #stopped = new AbortController();
  #running = false;
  readonly #table: CsvParts;
  readonly #target: CsvTarget;
  readonly #onProgress: (progress: Progress) => void;

  /** A stopped export reports no progress any more. */
  constructor(table: CsvParts, target: CsvTarget, onProgress: (progress: Progress) => void) {
    this.#table = table;
    this.#target = target;
    this.#onProgress = onProgress;
  }

  /** Starts, or continues after a failure. Reports failures as progress instead of raising them. */
  async resume(): Promise<void> {
    this.#running = true;
    this.#report("running");
    try {
      await this.#table.read(this.#stopped.signal, () => this.#report("running"));
      await this.#target.save();
      this.#report("saved");
    } catch (error) {
      if (this.#stopped.signal.aborted) await this.#discard();
      else this.#report("failed", reasonOf(error));
    } finally {
      this.#running = false;
    }
  }

  /** Stops, and discards the received parts. */
  stop(): void {
    this.#stopped.abort();
    if (!this.#running) void this.#discard();
  }

  #report(state: Progress["state"], reason = ""): void {
    if (!this.#stopped.signal.aborted) this.#onProgress({ state, rows: this.#table.rows, reason });
  }

  /** Ignores errors: a file that can't be written can't be removed either. */
  async #discard(): Promise<void> {
    await this.#target.discard().catch(() => undefined);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof UnreachableError) return errorMessage(error);
  if (error instanceof TypeError || isTimeout(error)) return "The connection was lost; resume the export.";
  if (error instanceof DOMException) return `The file can't be written: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
