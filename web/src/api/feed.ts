// Keeps the picture of all accounts and one kind of what they hold (jobs, pools, …) up to date.

import { ApiClient, ApiError } from "./client.ts";
import type { Account, Page } from "./model.ts";
import { NO_RESULT, POLL_MS, Poller, type PollResult } from "./poller.ts";

const POLL_MS_PER_ACCOUNT = 400;
const POLL_MS_PER_ROW = 5;
const TYPING_RESTS_MS = 150;

/** An account whose list couldn't be read, and the server's sentence about it. */
export interface Problem {
  account: string;
  message: string;
}

export interface Picture<Row> {
  accounts: Account[];
  rows: Row[];
  problems: Problem[];
  more: boolean;
  /** What this answers, which may be an earlier question. */
  asked: Asked;
  /** The accounts whose rows were read now: those of others are missing or older. */
  read: string[];
}

/** One account's list or, with "", all of them; `query` is what the API filters by. */
export interface Asked {
  account: string;
  query: string;
}

export class Feed<Row extends { account: string }> {
  #client = new ApiClient();
  #asked: Asked = { account: "", query: "" };
  #show: (result: PollResult<Picture<Row>>) => void = () => {};
  #poller: Poller<Picture<Row>>;
  readonly #collection: string;
  /** What was read last, also while nobody watches. */
  result: PollResult<Picture<Row>> = NO_RESULT;

  /** `collection` is the list's name in the API, as "jobs". */
  constructor(collection: string) {
    this.#collection = collection;
    const rest = () => {
      const { accounts = [], rows = [] } = this.#poller.value ?? {};
      return Math.max(POLL_MS, POLL_MS_PER_ACCOUNT * accounts.length, POLL_MS_PER_ROW * rows.length);
    };
    this.#poller = new Poller((signal) => this.#read(signal), rest, (result) => this.#tell(result));
  }

  /** Starts, and returns what stops it. */
  start(asked: Asked, show: (result: PollResult<Picture<Row>>) => void): () => void {
    this.#asked = asked;
    this.#show = show;
    return this.#poller.start();
  }

  /** Asks for something else, once typing rests. */
  look(asked: Asked): void {
    this.#asked = asked;
    this.#poller.refreshIn(TYPING_RESTS_MS);
  }

  refresh(): void {
    this.#poller.refresh();
  }

  #tell(result: PollResult<Picture<Row>>): void {
    this.result = result;
    this.#show(result);
  }

  async #read(signal: AbortSignal): Promise<Picture<Row>> {
    const asked = this.#asked;
    const accounts = (await this.#client.get<Page<Account>>("/api/accounts", signal)).value;
    const wanted = accounts.filter(({ id }) => !asked.account || id === asked.account);
    const problems: Problem[] = [];
    const lists = await Promise.all(wanted.map((account) => this.#list(account, asked.query, problems, signal)));
    this.#client.dropUnused();
    return {
      accounts,
      rows: lists.flatMap(({ values }) => values),
      problems,
      more: lists.some(({ truncated }) => truncated),
      asked,
      read: wanted.filter((_, index) => !lists[index]?.failed).map(({ id }) => id),
    };
  }

  async #list(account: Account, query: string, problems: Problem[], signal: AbortSignal) {
    const path = `/api/accounts/${encodeURIComponent(account.id)}/${this.#collection}${query}`;
    try {
      return { ...(await this.#client.list<Row>(path, signal)), failed: false };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problems.push({ account: account.name, message: error.message });
      const known = this.#poller.value?.rows ?? [];
      return { values: known.filter((row) => row.account === account.id), truncated: false, failed: true };
    }
  }
}

/** Whether a picture answers a question, or one that takes it in. */
export function fits({ asked }: Picture<unknown>, { account, query }: Asked): boolean {
  return asked.query === query && (!asked.account || asked.account === account);
}

/** Whether a picture has rows to count, or there are none: those of every account that is asked for are `listed`. */
export function isCounted(picture: Picture<unknown>, asked: Asked, listed: (account: Account) => boolean): boolean {
  const wanted = picture.accounts.filter(({ id }) => !asked.account || id === asked.account);
  const none = () => wanted.every((account) => picture.read.includes(account.id) && listed(account));
  return fits(picture, asked) && (picture.rows.length > 0 || none());
}
