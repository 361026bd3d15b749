// Reads the API of the page's own origin. What didn't change is answered by 304 and costs no body.

import { serverClock } from "../time/clock.ts";
import type { Page } from "./model.ts";

const TIMEOUT_MS = 20_000;
const MAX_PAGES = 20;
/** Of a part of a table, with all that is in it: Azure grants an answer 230 seconds to begin. */
const PART_TIMEOUT_MS = 300_000;

/** The server answered, and said no: `message` is its own sentence. */
export class Refusal extends Error {
  readonly status: number;
  /** When to ask again, in seconds, where the server said so. */
  readonly retryAfter: number | null;
  /** In a word, like AccountNotFound; "" where the server gave none. */
  readonly code: string;

  constructor(status: number, message: string, retryAfter: number | null = null, code = "") {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.code = code;
  }
}

/** The server didn't answer. */
export class Unreachable extends Error {}

interface Known {
  etag: string;
  body: unknown;
}

/** A list as far as it was read; `more` tells that it goes on. */
export interface Listing<T> {
  values: T[];
  more: boolean;
}

export class Reader {
  #known = new Map<string, Known>();
  #used = new Map<string, Known>();

  /** One resource by its path. Raises Refusal, Unreachable, or the signal's abort. */
  async read<T>(path: string, signal: AbortSignal): Promise<T> {
    const known = this.#known.get(path);
    // A weak tag leaves out as of when an answer is, which is shown: such answers are asked for in whole.
    const tag = known?.etag.startsWith('"') ? { "If-None-Match": known.etag } : {};
    const headers = { Accept: "application/json", ...tag };
    const response = await get(path, headers, signal);
    const fresh = response.status === 304 && known ? known : await keep(response);
    this.#used.set(path, fresh);
    return fresh.body as T;
  }

  /** A list with the pages that follow it, up to a bound. */
  async list<T>(path: string, signal: AbortSignal): Promise<Listing<T>> {
    const values: T[] = [];
    let next: string | undefined = path;
    for (let page = 0; next && page < MAX_PAGES; page++) {
      const answer: Page<T> = await this.read<Page<T>>(next, signal);
      values.push(...answer.value);
      next = answer.nextLink && ownPath(answer.nextLink);
    }
    return { values, more: next !== undefined };
  }

  /** Forgets what the last round didn't ask for. */
  endRound(): void {
    this.#known = this.#used;
    this.#used = new Map();
  }
}

/** A table, or a part of one, whose body is still to come. Raises Refusal, Unreachable, or the signal's abort. */
export async function table(path: string, signal: AbortSignal): Promise<Response> {
  const response = await get(path, { Accept: "text/csv" }, signal, PART_TIMEOUT_MS);
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function get(
  path: string,
  headers: Record<string, string>,
  signal: AbortSignal,
  timeout = TIMEOUT_MS,
): Promise<Response> {
  const sent = Date.now();
  try {
    const response = await fetch(path, {
      headers,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
      cache: "no-store",
      redirect: "error",
    });
    serverClock.observe(response.headers.get("Date"), sent, Date.now());
    return response;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Unreachable();
  }
}

async function keep(response: Response): Promise<Known> {
  if (!response.ok) throw await refusalOf(response);
  try {
    return { etag: response.headers.get("ETag") ?? "", body: await response.json() };
  } catch {
    throw new Unreachable();
  }
}

async function refusalOf(response: Response): Promise<Refusal> {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const body = (await response.json().catch(() => null)) as { error?: { code?: unknown; message?: unknown } } | null;
  const { code, message } = body?.error ?? {};
  const sentence = typeof message === "string" && message ? message : `The server answered with status ${response.status}.`;
  return new Refusal(response.status, sentence, Number.isNaN(seconds) ? null : seconds, typeof code === "string" ? code : "");
}

/** A next link by path and query alone: behind a proxy its host may be another, and no other host is ever asked. */
export function ownPath(link: string): string {
  const { pathname, search } = new URL(link, location.origin);
  return pathname + search;
}
