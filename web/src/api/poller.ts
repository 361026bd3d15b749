// Reads one thing over and over: backs off while the server doesn't answer, sleeps while nobody looks.

import { ApiError, UnreachableError } from "./client.ts";

export const POLL_MS = 2000;
const LONGEST_WAIT_MS = 10_000;

/** Why there is nothing new; `message` is null when the server doesn't answer at all. */
export interface Failure {
  since: number;
  message: string | null;
  /** The status of the answer, where there was one. */
  status: number | null;
  /** The server's word for it, like AccountNotFound. */
  code?: string;
}

/** What was read last, and why it isn't newer. */
export interface Reading<T> {
  value: T | null;
  failure: Failure | null;
}

export const NOTHING_YET: Reading<never> = { value: null, failure: null };

export class Poller<T> {
  #reading: Reading<T> = NOTHING_YET;
  #failures = 0;
  #timer: number | undefined;
  #current = new AbortController();
  readonly #read: (signal: AbortSignal) => Promise<T>;
  readonly #rest: () => number;
  readonly #show: (reading: Reading<T>) => void;

  /** `rest` is how long to wait after a success, in milliseconds, or for good; after failures it is longer. */
  constructor(
    read: (signal: AbortSignal) => Promise<T>,
    rest: () => number,
    show: (reading: Reading<T>) => void,
  ) {
    this.#read = read;
    this.#rest = rest;
    this.#show = show;
  }

  get value(): T | null {
    return this.#reading.value;
  }

  /** Starts, and returns what stops it. */
  start(): () => void {
    const woken = () => (document.hidden ? this.#pause() : this.refresh());
    document.addEventListener("visibilitychange", woken);
    window.addEventListener("online", woken);
    this.refresh();
    return () => {
      document.removeEventListener("visibilitychange", woken);
      window.removeEventListener("online", woken);
      this.#pause();
    };
  }

  /** Reads now; an unfinished read is given up. */
  refresh(): void {
    this.#pause();
    this.#current = new AbortController();
    void this.#poll(this.#current.signal);
  }

  /** Reads after a while; an unfinished read is given up. */
  refreshIn(milliseconds: number): void {
    this.#pause();
    this.#timer = window.setTimeout(() => this.refresh(), milliseconds);
  }

  #pause(): void {
    window.clearTimeout(this.#timer);
    this.#current.abort();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const began = Date.now();
    try {
      const value = await this.#read(signal);
      if (signal.aborted) return;
      this.#failures = 0;
      this.#tell({ value, failure: null });
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(error, began);
    }
    const wait = this.#wait();
    if (!document.hidden && wait < Infinity) this.#timer = window.setTimeout(() => this.refresh(), wait);
  }

  #fail(error: unknown, began: number): void {
    if (!(error instanceof ApiError || error instanceof UnreachableError)) console.error(error);
    this.#failures++;
    const { value, failure } = this.#reading;
    this.#tell({ value, failure: failureOf(error, failure?.since ?? began) });
  }

  #wait(): number {
    return this.#failures ? Math.min(LONGEST_WAIT_MS, POLL_MS * 2 ** (this.#failures - 1)) : this.#rest();
  }

  #tell(reading: Reading<T>): void {
    this.#reading = reading;
    this.#show(reading);
  }
}

export function failureOf(error: unknown, since: number): Failure {
  const status = error instanceof ApiError ? error.status : null;
  if (error instanceof UnreachableError) return { since, status, message: null };
  const code = error instanceof ApiError ? error.code : "";
  return { since, status, code, message: error instanceof Error ? error.message : String(error) };
}

/** The server's own sentence, and when to try again where it said so. */
export function sentenceOf(error: unknown): string {
  const message = failureOf(error, 0).message ?? "The server doesn't respond.";
  const wait = error instanceof ApiError ? error.retryAfter : null;
  return wait === null ? message : `${message.replace(/\.$/, "")}; try again in ${wait} s.`;
}
