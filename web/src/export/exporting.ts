// One export from its beginning to its end, which may be a stop; it can go on after failures.

import { ApiError, UnreachableError } from "../api/client.ts";
import { errorMessage } from "../api/poller.ts";
import type { Target, WholeTable } from "./parts.ts";

export interface Progress {
  state: "running" | "failed" | "saved";
  /** In the parts that came so far. */
  rows: number;
  /** What it failed by, as a sentence. */
  why?: string;
}

export class Exporting {
  readonly #stopped = new AbortController();
  #running = false;
  readonly #table: WholeTable;
  readonly #target: Target;
  readonly #show: (progress: Progress) => void;

  /** Nothing is shown any more once it was stopped. */
  constructor(table: WholeTable, target: Target, show: (progress: Progress) => void) {
    this.#table = table;
    this.#target = target;
    this.#show = show;
  }

  /** From where it is; what fails is shown, not raised. */
  async goOn(): Promise<void> {
    this.#running = true;
    this.#tell("running");
    try {
      await this.#table.read(this.#stopped.signal, () => this.#tell("running"));
      await this.#target.save();
      this.#tell("saved");
    } catch (error) {
      if (this.#stopped.signal.aborted) await this.#discard();
      else this.#tell("failed", whyOf(error));
    } finally {
      this.#running = false;
    }
  }

  /** Nothing stays of what came. */
  stop(): void {
    this.#stopped.abort();
    if (!this.#running) void this.#discard();
  }

  #tell(state: Progress["state"], why = ""): void {
    if (!this.#stopped.signal.aborted) this.#show({ state, rows: this.#table.rows, why });
  }

  /** A file that can't be written can't be removed either. */
  async #discard(): Promise<void> {
    await this.#target.discard().catch(() => undefined);
  }
}

function whyOf(error: unknown): string {
  if (error instanceof ApiError || error instanceof UnreachableError) return errorMessage(error);
  if (error instanceof TypeError || isTimeout(error)) return "The connection was lost.";
  if (error instanceof DOMException) return `The file can't be written: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === "TimeoutError";
}
