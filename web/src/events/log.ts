// What was read of a list of events: it grows at its head as events are logged, and at its end as older ones are asked
// for. What is listed once stays where it is among the others.

import { ApiClient, sameOriginPath } from "../api/client.ts";
import type { Page } from "../api/model.ts";
import { failureOf, Poller, type PollFailure } from "../api/poller.ts";
import type { EventLine } from "./model.ts";

const INTERVAL_MS = 5_000;
/** How long what is at hand is taken to lead up to a head that shares nothing with it, as few can pass it meanwhile. */
const SOON_MS = 60_000;
const MOST_ROWS = 2_000;
const PAGES_AT_ONCE = 10;

/** `next` is where older ones are, null behind the last. */
export interface Log {
  rows: EventLine[];
  next: string | null;
}

type Read = (path: string) => Promise<Page<EventLine>>;

/** The log with a newer head. Where too much has passed to tell what is between, it begins anew at the head. */
export async function withHead(log: Log | null, path: string, read: Read, soon: boolean): Promise<Log> {
  const known = new Set(log?.rows.map(({ id }) => id));
  const head: EventLine[] = [];
  let next: string | null = path;
  for (let pages = 0; next && pages < PAGES_AT_ONCE; pages++) {
    const page = await read(next);
    head.push(...page.value);
    next = linkOf(page);
    const joined = page.value.some(({ id }) => known.has(id)) || (next !== null && soon && !page.value.length);
    if (log && joined) return joinedTo(log, head);
    if (!log && head.length) break;
  }
  return { rows: head, next };
}

/** The log with at least one older event, where some pages tell of one. */
export async function withOlder(log: Log, read: Read): Promise<Log> {
  let { next } = log;
  for (let pages = 0; next && pages < PAGES_AT_ONCE; pages++) {
    const page = await read(next);
    next = linkOf(page);
    if (page.value.length) return { rows: [...log.rows, ...without(page.value, log.rows)], next };
  }
  return { rows: log.rows, next };
}

function joinedTo(log: Log, head: EventLine[]): Log {
  return { rows: [...head, ...without(log.rows, head)], next: log.next };
}

function without(rows: EventLine[], others: EventLine[]): EventLine[] {
  const ids = new Set(others.map(({ id }) => id));
  return rows.filter(({ id }) => !ids.has(id));
}

function linkOf({ nextLink }: Page<EventLine>): string | null {
  return nextLink ? sameOriginPath(nextLink) : null;
}

export interface Kept {
  value: Log | null;
  failure: PollFailure | null;
  /** True while older ones are read. */
  older: boolean;
}

export const NOTHING: Kept = { value: null, failure: null, older: false };

/** Reads one list over and over; `isRead` tells whether somebody reads it, so that it mustn't begin anew. */
export class LogReader {
  #client = new ApiClient();
  #stopped = new AbortController();
  #asOf = 0;
  #kept = NOTHING;
  #poller: Poller<Log>;
  readonly #path: string;
  readonly #isRead: () => boolean;
  readonly #show: (kept: Kept) => void;

  constructor(path: string, isRead: () => boolean, show: (kept: Kept) => void) {
    this.#path = path;
    this.#isRead = isRead;
    this.#show = show;
    const read = (signal: AbortSignal) => this.#readHead(signal);
    this.#poller = new Poller(read, () => INTERVAL_MS, ({ failure }) => this.#change({ failure }));
  }

  /** Starts, and returns what stops it. */
  start(): () => void {
    const stop = this.#poller.start();
    return () => {
      stop();
      this.#stopped.abort();
    };
  }

  refresh(): void {
    this.#poller.refresh();
  }

  async older(): Promise<void> {
    const before = this.#kept.value;
    if (!before || this.#kept.older) return;
    this.#change({ older: true });
    try {
      const grown = await withOlder(before, (path) => new ApiClient().get(path, this.#stopped.signal));
      const newer = without(this.#kept.value?.rows ?? [], grown.rows); // which came meanwhile
      this.#change({ value: { rows: [...newer, ...grown.rows], next: grown.next }, failure: null, older: false });
    } catch (error) {
      this.#change({ failure: failureOf(error, Date.now()), older: false });
    }
  }

  async #readHead(signal: AbortSignal): Promise<Log> {
    const before = this.#kept.value;
    const anew = before && before.rows.length > MOST_ROWS && !this.#isRead();
    const read: Read = (path) => this.#client.get(path, signal);
    const soon = Date.now() - this.#asOf < SOON_MS;
    const now = await withHead(anew ? null : before, this.#path, read, soon);
    this.#client.dropUnused();
    if (before && this.#kept.value !== before) return before; // older ones came meanwhile; the next turn joins them
    this.#asOf = Date.now();
    if (!signal.aborted && !unchanged(before, now)) this.#kept = { ...this.#kept, value: now };
    return now;
  }

  #change(news: Partial<Kept>): void {
    this.#kept = { ...this.#kept, ...news };
    if (!this.#stopped.signal.aborted) this.#show(this.#kept);
  }
}

function unchanged(before: Log | null, now: Log): before is Log {
  return before?.rows.length === now.rows.length && before.rows.every(({ id }, index) => id === now.rows[index]?.id);
}
