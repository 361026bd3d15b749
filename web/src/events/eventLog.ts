// The loaded part of an event log. It grows at the top as Batch logs events, and at the end as the user loads older
// ones. Loaded events keep their order.

import { ApiClient, sameOriginPath } from "../api/client.ts";
import type { Page } from "../api/model.ts";
import { failureOf, Poller, type PollFailure } from "../api/poller.ts";
import type { BatchEvent } from "./model.ts";

const INTERVAL_MS = 5_000;
/** For this long, newer events are joined to the loaded ones even if they share none, as few can lie between. */
const JOIN_WINDOW_MS = 60_000;
const MAX_ROWS = 2_000;
const MAX_PAGES = 10;

/** `next` is the path of older events; null at the end of the log. */
export interface EventLog {
  rows: BatchEvent[];
  next: string | null;
}

type ReadPage = (path: string) => Promise<Page<BatchEvent>>;

/** Adds newer events. If more events lie between than the page reads, the log restarts with the newest. */
export async function withNewer(
  log: EventLog | null,
  path: string,
  read: ReadPage,
  canJoin: boolean,
): Promise<EventLog> {
  const known = new Set(log?.rows.map(({ id }) => id));
  const newer: BatchEvent[] = [];
  let next: string | null = path;
  for (let pages = 0; next && pages < MAX_PAGES; pages++) {
    const page = await read(next);
    newer.push(...page.value);
    next = nextPathOf(page);
    const overlaps = page.value.some(({ id }) => known.has(id)) || (next !== null && canJoin && !page.value.length);
    if (log && overlaps) return joined(log, newer);
    if (!log && newer.length) break;
  }
  return { rows: newer, next };
}

/** Adds older events: at least one, unless some pages in a row have none. */
export async function withOlder(log: EventLog, read: ReadPage): Promise<EventLog> {
  let { next } = log;
  for (let pages = 0; next && pages < MAX_PAGES; pages++) {
    const page = await read(next);
    next = nextPathOf(page);
    if (page.value.length) return { rows: [...log.rows, ...without(page.value, log.rows)], next };
  }
  return { rows: log.rows, next };
}

function joined(log: EventLog, newer: BatchEvent[]): EventLog {
  return { rows: [...newer, ...without(log.rows, newer)], next: log.next };
}

function without(rows: BatchEvent[], others: BatchEvent[]): BatchEvent[] {
  const ids = new Set(others.map(({ id }) => id));
  return rows.filter(({ id }) => !ids.has(id));
}

function nextPathOf({ nextLink }: Page<BatchEvent>): string | null {
  return nextLink ? sameOriginPath(nextLink) : null;
}

export interface EventLogState {
  value: EventLog | null;
  failure: PollFailure | null;
  isLoadingOlder: boolean;
}

export const INITIAL_STATE: EventLogState = { value: null, failure: null, isLoadingOlder: false };

/** Polls one event log. While `isBeingRead` returns true, the log doesn't restart. */
export class EventLogPoller {
  #client = new ApiClient();
  #stopped = new AbortController();
  #asOf = 0;
  #state = INITIAL_STATE;
  #poller: Poller<EventLog>;
  readonly #path: string;
  readonly #isBeingRead: () => boolean;
  readonly #onChange: (state: EventLogState) => void;

  constructor(path: string, isBeingRead: () => boolean, onChange: (state: EventLogState) => void) {
    this.#path = path;
    this.#isBeingRead = isBeingRead;
    this.#onChange = onChange;
    const read = (signal: AbortSignal) => this.#readNewer(signal);
    this.#poller = new Poller(read, () => INTERVAL_MS, ({ failure }) => this.#update({ failure }));
  }

  /** Starts polling, and returns a function that stops it. */
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

  async loadOlder(): Promise<void> {
    const before = this.#state.value;
    if (!before || this.#state.isLoadingOlder) return;
    this.#update({ isLoadingOlder: true });
    try {
      const grown = await withOlder(before, (path) => new ApiClient().get(path, this.#stopped.signal));
      const newer = without(this.#state.value?.rows ?? [], grown.rows); // polled in the meantime
      const value = { rows: [...newer, ...grown.rows], next: grown.next };
      this.#update({ value, failure: null, isLoadingOlder: false });
    } catch (error) {
      this.#update({ failure: failureOf(error, Date.now()), isLoadingOlder: false });
    }
  }

  async #readNewer(signal: AbortSignal): Promise<EventLog> {
    const before = this.#state.value;
    const restarts = before && before.rows.length > MAX_ROWS && !this.#isBeingRead();
    const read: ReadPage = (path) => this.#client.get(path, signal);
    const canJoin = Date.now() - this.#asOf < JOIN_WINDOW_MS;
    const log = await withNewer(restarts ? null : before, this.#path, read, canJoin);
    this.#client.dropUnused();
    if (before && this.#state.value !== before) return before; // older events arrived; the next poll joins them
    this.#asOf = Date.now();
    if (!signal.aborted && !haveSameRows(before, log)) this.#state = { ...this.#state, value: log };
    return log;
  }

  #update(change: Partial<EventLogState>): void {
    this.#state = { ...this.#state, ...change };
    if (!this.#stopped.signal.aborted) this.#onChange(this.#state);
  }
}

function haveSameRows(before: EventLog | null, log: EventLog): before is EventLog {
  return before?.rows.length === log.rows.length && before.rows.every(({ id }, index) => id === log.rows[index]?.id);
}
