// Polls all accounts and one collection of theirs (jobs, pools, …) for a list page.

import { ApiClient, ApiError } from "./client.ts";
import type { Account, Page } from "./model.ts";
import { NO_RESULT, POLL_MS, Poller, type PollResult } from "./poller.ts";

const POLL_MS_PER_ACCOUNT = 400;
const POLL_MS_PER_ROW = 5;
const TYPING_DEBOUNCE_MS = 150;

/** An account whose list couldn't be read, with the server's sentence about it. */
export interface AccountError {
  account: string;
  message: string;
}

export interface ListSnapshot<Row> {
  accounts: Account[];
  rows: Row[];
  errors: AccountError[];
  /** Whether the server has more rows than were read. */
  truncated: boolean;
  /** The query that this snapshot answers, which may be an earlier one. */
  query: ListQuery;
  /** Accounts whose rows were read for this snapshot; rows of others are missing or older. */
  readAccounts: string[];
}

/** One account's list or, with "", all of them; `parameters` is the query string of the API, with the filters. */
export interface ListQuery {
  account: string;
  parameters: string;
}

export class ListPoller<Row extends { account: string }> {
  #client = new ApiClient();
  #query: ListQuery = { account: "", parameters: "" };
  #onResult: (result: PollResult<ListSnapshot<Row>>) => void = () => {};
  #poller: Poller<ListSnapshot<Row>>;
  readonly #collection: string;
  /** The latest result, kept while the page isn't shown. */
  result: PollResult<ListSnapshot<Row>> = NO_RESULT;

  /** `collection` is the list's name in the API, such as "jobs". */
  constructor(collection: string) {
    this.#collection = collection;
    const delay = () => {
      const { accounts = [], rows = [] } = this.#poller.value ?? {};
      return Math.max(POLL_MS, POLL_MS_PER_ACCOUNT * accounts.length, POLL_MS_PER_ROW * rows.length);
    };
    this.#poller = new Poller((signal) => this.#read(signal), delay, (result) => this.#publish(result));
  }

  /** Starts polling, and returns a function that stops it. */
  start(query: ListQuery, onResult: (result: PollResult<ListSnapshot<Row>>) => void): () => void {
    this.#query = query;
    this.#onResult = onResult;
    return this.#poller.start();
  }

  /** Changes the query; polls once the user pauses typing. */
  setQuery(query: ListQuery): void {
    this.#query = query;
    this.#poller.refreshIn(TYPING_DEBOUNCE_MS);
  }

  refresh(): void {
    this.#poller.refresh();
  }

  #publish(result: PollResult<ListSnapshot<Row>>): void {
    this.result = result;
    this.#onResult(result);
  }

  async #read(signal: AbortSignal): Promise<ListSnapshot<Row>> {
    const query = this.#query;
    const accounts = (await this.#client.get<Page<Account>>("/api/accounts", signal)).value;
    const selected = accounts.filter(({ id }) => !query.account || id === query.account);
    const errors: AccountError[] = [];
    const lists = await Promise.all(selected.map((account) => this.#list(account, query.parameters, errors, signal)));
    this.#client.dropUnused();
    return {
      accounts,
      rows: lists.flatMap(({ values }) => values),
      errors,
      truncated: lists.some(({ truncated }) => truncated),
      query,
      readAccounts: selected.filter((_, index) => !lists[index]?.failed).map(({ id }) => id),
    };
  }

  async #list(account: Account, parameters: string, errors: AccountError[], signal: AbortSignal) {
    const path = `/api/accounts/${encodeURIComponent(account.id)}/${this.#collection}${parameters}`;
    try {
      return { ...(await this.#client.list<Row>(path, signal)), failed: false };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      errors.push({ account: account.name, message: error.message });
      const known = this.#poller.value?.rows ?? [];
      return { values: known.filter((row) => row.account === account.id), truncated: false, failed: true };
    }
  }
}

/** Whether a snapshot answers a query: it has the same parameters, and the account or all accounts. */
export function answersQuery({ query: answered }: ListSnapshot<unknown>, { account, parameters }: ListQuery): boolean {
  return answered.parameters === parameters && (!answered.account || answered.account === account);
}

/** Whether a snapshot's rows can be counted: it has some, or every account of the query was read and is `listed`. */
export function canCount(
  snapshot: ListSnapshot<unknown>,
  query: ListQuery,
  listed: (account: Account) => boolean,
): boolean {
  const selected = snapshot.accounts.filter(({ id }) => !query.account || id === query.account);
  const isEmpty = () => selected.every((account) => snapshot.readAccounts.includes(account.id) && listed(account));
  return answersQuery(snapshot, query) && (snapshot.rows.length > 0 || isEmpty());
}
