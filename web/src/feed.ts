// Keeps the picture of all accounts and their jobs up to date.

import { Reader, Refusal } from "./api";
import { jobsQuery, type Filters } from "./filters";
import type { Account, Job, Page } from "./model";
import { POLL_MS, Poller, type Reading } from "./poller";

const POLL_MS_PER_ACCOUNT = 400;
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

export class Feed {
  #reader = new Reader();
  #poller: Poller<Picture>;

  constructor(
    private filters: Filters,
    show: (reading: Reading<Picture>) => void,
  ) {
    const rest = () => Math.max(POLL_MS, POLL_MS_PER_ACCOUNT * (this.#poller.value?.accounts.length ?? 0));
    this.#poller = new Poller((signal) => this.#read(signal), rest, show);
  }

  /** Starts with what these filters let through, and returns what stops it. */
  start(filters: Filters): () => void {
    this.filters = filters;
    return this.#poller.start();
  }

  /** Shows something else, once typing rests. */
  look(filters: Filters): void {
    this.filters = filters;
    this.#poller.refreshIn(TYPING_RESTS_MS);
  }

  refresh(): void {
    this.#poller.refresh();
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
      const known = this.#poller.value?.jobs ?? [];
      return { values: known.filter((job) => job.account === account.id), more: false };
    }
  }
}
