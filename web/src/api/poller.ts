// Polls one resource. Backs off while the server doesn't answer, and pauses while the page is hidden.

import { ApiError, UnreachableError } from "./client.ts";

export const POLL_MS = 2000;
const MAX_BACKOFF_MS = 10_000;

/** Why the latest poll failed; `message` is null if the server didn't answer. */
export interface PollFailure {
  since: number;
  message: string | null;
  /** The HTTP status, if there was a response. */
  status: number | null;
  /** The API's error code, such as AccountNotFound. */
  code?: string;
}

/** The last value, and the failure of later polls. */
export interface PollResult<T> {
  value: T | null;
  failure: PollFailure | null;
}

export const NO_RESULT: PollResult<never> = { value: null, failure: null };

export class Poller<T> {
  #result: PollResult<T> = NO_RESULT;
  #failures = 0;
  #timer: number | undefined;
  #current = new AbortController();
  readonly #read: (signal: AbortSignal) => Promise<T>;
  readonly #delay: () => number;
  readonly #onResult: (result: PollResult<T>) => void;

  /** `delay` returns the milliseconds to wait after a success; Infinity ends the polling. Failures wait longer. */
  constructor(
    read: (signal: AbortSignal) => Promise<T>,
    delay: () => number,
    onResult: (result: PollResult<T>) => void,
  ) {
    this.#read = read;
    this.#delay = delay;
    this.#onResult = onResult;
  }

  get value(): T | null {
    return this.#result.value;
  }

  /** Starts polling, and returns a function that stops it. */
  start(): () => void {
    const wake = () => (document.hidden ? this.#pause() : this.refresh());
    document.addEventListener("visibilitychange", wake);
    window.addEventListener("online", wake);
    this.refresh();
    return () => {
      document.removeEventListener("visibilitychange", wake);
      window.removeEventListener("online", wake);
      this.#pause();
    };
  }

  /** Polls now; aborts an unfinished poll. */
  refresh(): void {
    this.#pause();
    this.#current = new AbortController();
    void this.#poll(this.#current.signal);
  }

  /** Polls after a delay; aborts an unfinished poll. */
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
      this.#publish({ value, failure: null });
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
    const { value, failure } = this.#result;
    this.#publish({ value, failure: failureOf(error, failure?.since ?? began) });
  }

  #wait(): number {
    return this.#failures ? Math.min(MAX_BACKOFF_MS, POLL_MS * 2 ** (this.#failures - 1)) : this.#delay();
  }

  #publish(result: PollResult<T>): void {
    this.#result = result;
    this.#onResult(result);
  }
}

export function failureOf(error: unknown, since: number): PollFailure {
  const status = error instanceof ApiError ? error.status : null;
  if (error instanceof UnreachableError) return { since, status, message: null };
  const code = error instanceof ApiError ? error.code : "";
  return { since, status, code, message: error instanceof Error ? error.message : String(error) };
}

/** The server's own sentence, with the time until the next attempt if the server named it. */
export function errorMessage(error: unknown): string {
  const message = failureOf(error, 0).message ?? "The server doesn't respond.";
  const wait = error instanceof ApiError ? error.retryAfter : null;
  return wait === null ? message : `${message.replace(/\.$/, "")}; try again in ${wait} s.`;
}
