// Keeps the picture up to date: polls, backs off while the server doesn't answer, sleeps while nobody looks.

import { Reader, Refusal, Unreachable } from "./api";
import { jobsQuery, type Filters } from "./filters";
import type { Account, Job, Page } from "./model";

const POLL_MS = 2000;
const POLL_MS_PER_ACCOUNT = 400;
const LONGEST_WAIT_MS = 10_000;
const TYPING_RESTS_MS = 150;

/** An account whose jobs couldn't be read, and the server's sentence about it. */
export interface Problem {
  account: string;
  message: string;
}

export interface Picture {
  accounts: Account[];
  jobs: Job[];
  problems: Problem[];
  more: boolean;
}

/** Why there is no new picture; `message` is null when the server doesn't answer at all. */
export interface Failure {
  since: number;
  message: string | null;
}

export interface FeedState {
  picture: Picture | null;
  failure: Failure | null;
}

export class Feed {
  #reader = new Reader();
  #state: FeedState = { picture: null, failure: null };
  #failures = 0;
  #timer: number | undefined;
  #current = new AbortController();

  constructor(
    private filters: Filters,
    private readonly show: (state: FeedState) => void,
  ) {}

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

  /** Shows something else, once typing rests. */
  look(filters: Filters): void {
    this.filters = filters;
    this.#pause();
    this.#timer = window.setTimeout(() => this.refresh(), TYPING_RESTS_MS);
  }

  /** Reads now; an unfinished read is given up. */
  refresh(): void {
    this.#pause();
    this.#current = new AbortController();
    void this.#poll(this.#current.signal);
  }

  #pause(): void {
    window.clearTimeout(this.#timer);
    this.#current.abort();
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const began = Date.now();
    try {
      const picture = await this.#read(signal);
      if (signal.aborted) return;
      this.#failures = 0;
      this.#tell({ picture, failure: null });
    } catch (error) {
      if (signal.aborted) return;
      this.#fail(error, began);
    }
    if (!document.hidden) this.#timer = window.setTimeout(() => this.refresh(), this.#wait());
  }

  async #read(signal: AbortSignal): Promise<Picture> {
    const accounts = (await this.#reader.read<Page<Account>>("/api/accounts", signal)).value;
    const wanted = accounts.filter(({ id }) => !this.filters.account || id === this.filters.account);
    const problems: Problem[] = [];
    const lists = await Promise.all(wanted.map((account) => this.#jobs(account, problems, signal)));
    this.#reader.endRound();
    return { accounts, jobs: lists.flatMap(({ values }) => values), problems, more: lists.some(({ more }) => more) };
  }

  async #jobs(account: Account, problems: Problem[], signal: AbortSignal) {
    const path = `/api/accounts/${encodeURIComponent(account.id)}/jobs${jobsQuery(this.filters)}`;
    try {
      return await this.#reader.list<Job>(path, signal);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problems.push({ account: account.name, message: error.message });
      const known = this.#state.picture?.jobs ?? [];
      return { values: known.filter((job) => job.account === account.id), more: false };
    }
  }

  #fail(error: unknown, began: number): void {
    if (!(error instanceof Refusal || error instanceof Unreachable)) console.error(error);
    this.#failures++;
    const message = error instanceof Unreachable ? null : error instanceof Error ? error.message : String(error);
    this.#tell({ picture: this.#state.picture, failure: { since: this.#state.failure?.since ?? began, message } });
  }

  #wait(): number {
    const usual = Math.max(POLL_MS, POLL_MS_PER_ACCOUNT * (this.#state.picture?.accounts.length ?? 0));
    return this.#failures ? Math.min(LONGEST_WAIT_MS, POLL_MS * 2 ** (this.#failures - 1)) : usual;
  }

  #tell(state: FeedState): void {
    this.#state = state;
    this.show(state);
  }
}
