// Requests the API at the page's own origin. A response that didn't change is a 304 without a body.

import { serverClock } from "../time/clock.ts";
import type { Page } from "./model.ts";

const TIMEOUT_MS = 20_000;
const MAX_PAGES = 20;
/** For a whole part of a CSV table: Azure lets a response take 230 seconds to begin. */
const CSV_TIMEOUT_MS = 300_000;
/** For a script, which may name many tasks. */
const TEXT_TIMEOUT_MS = 120_000;
/** For a part of a file, which Batch asks its node for. */
const FILE_TIMEOUT_MS = 120_000;

/** The server answered with an error status; `message` is its own sentence. */
export class ApiError extends Error {
  readonly status: number;
  /** Seconds until the next attempt, if the server named them. */
  readonly retryAfter: number | null;
  /** The API's error code, such as AccountNotFound; "" if the response had none. */
  readonly code: string;

  constructor(status: number, message: string, retryAfter: number | null = null, code = "") {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
    this.code = code;
  }
}

/** The server didn't answer. */
export class UnreachableError extends Error {}

interface CachedResponse {
  etag: string;
  body: unknown;
}

/** The entries of a list; `truncated` if the list has more of them. */
interface ListResult<T> {
  values: T[];
  truncated: boolean;
}

/** Caches responses by path, for requests with If-None-Match. */
export class ApiClient {
  #cache = new Map<string, CachedResponse>();
  #used = new Map<string, CachedResponse>();

  /** Gets one resource. Raises ApiError, UnreachableError, or the signal's abort. */
  async get<T>(path: string, signal: AbortSignal): Promise<T> {
    const cached = this.#cache.get(path);
    // Weak ETags ignore the time of an answer. The page shows that time, so it needs the whole response.
    const condition = cached?.etag.startsWith('"') ? { "If-None-Match": cached.etag } : {};
    const headers = { Accept: "application/json", ...condition };
    const response = await request(path, headers, signal);
    const latest = response.status === 304 && cached ? cached : await parsed(response);
    this.#used.set(path, latest);
    return latest.body as T;
  }

  /** Gets a list page by page, up to a limit. */
  async list<T>(path: string, signal: AbortSignal): Promise<ListResult<T>> {
    const values: T[] = [];
    let next: string | undefined = path;
    for (let page = 0; next && page < MAX_PAGES; page++) {
      const answer: Page<T> = await this.get<Page<T>>(next, signal);
      values.push(...answer.value);
      next = answer.nextLink && sameOriginPath(answer.nextLink);
    }
    return { values, truncated: next !== undefined };
  }

  /** Drops the responses that weren't used since the last call. */
  dropUnused(): void {
    this.#cache = this.#used;
    this.#used = new Map();
  }
}

/** Requests a CSV table or a part of it; the body is unread. Raises ApiError, UnreachableError or the signal's abort. */
export async function requestCsv(path: string, signal: AbortSignal): Promise<Response> {
  const response = await request(path, { Accept: "text/csv" }, signal, CSV_TIMEOUT_MS);
  if (!response.ok) throw await apiErrorOf(response);
  return response;
}

/** Requests a part of a file; the body is unread. Raises ApiError, UnreachableError or the signal's abort. */
export async function requestFilePart(path: string, signal: AbortSignal): Promise<Response> {
  const response = await request(path, { Accept: "text/plain, */*" }, signal, FILE_TIMEOUT_MS);
  if (!response.ok) throw await apiErrorOf(response);
  return response;
}

/** Requests a text, such as a script. Raises ApiError, UnreachableError or the signal's abort. */
export async function requestText(path: string, signal: AbortSignal): Promise<string> {
  const response = await request(path, { Accept: "text/plain" }, signal, TEXT_TIMEOUT_MS);
  if (!response.ok) throw await apiErrorOf(response);
  return response.text();
}

async function request(
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
    throw new UnreachableError();
  }
}

async function parsed(response: Response): Promise<CachedResponse> {
  if (!response.ok) throw await apiErrorOf(response);
  try {
    return { etag: response.headers.get("ETag") ?? "", body: await response.json() };
  } catch {
    throw new UnreachableError();
  }
}

async function apiErrorOf(response: Response): Promise<ApiError> {
  const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
  const body = (await response.json().catch(() => null)) as { error?: { code?: unknown; message?: unknown } } | null;
  const { code, message } = body?.error ?? {};
  const sentence =
    typeof message === "string" && message ? message : `The server answered with status ${response.status}.`;
  return new ApiError(
    response.status,
    sentence,
    Number.isNaN(seconds) ? null : seconds,
    typeof code === "string" ? code : "",
  );
}

/** The path and query of a next link. A proxy may change its host, and the page requests no other host. */
export function sameOriginPath(link: string): string {
  const { pathname, search } = new URL(link, location.origin);
  return pathname + search;
}
