import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { answersQuery, canCount, ListPoller, type ListSnapshot } from "../../src/api/listPoller.ts";
import type { Account } from "../../src/api/model.ts";
import { pathOfAccount, pathOfJob, pathOfPool } from "../../src/api/paths.ts";
import { goTo } from "../address.ts";
import { FakePage, settled } from "./page.ts";

interface Row {
  account: string;
  id: string;
}

function account(id: string): Account {
  return { id, name: id } as Account;
}

function snapshot(change: Partial<ListSnapshot<Row>>): ListSnapshot<Row> {
  const query = { account: "", parameters: "" };
  return {
    accounts: [account("a"), account("b")],
    rows: [],
    errors: [],
    truncated: false,
    readAccounts: ["a", "b"],
    query,
    ...change,
  };
}

/** A server that lists rows by account; an account of null answers with an error. */
function serve(lists: Record<string, string[] | null>): void {
  goTo("");
  mock.method(globalThis, "fetch", async (path: string) => {
    if (path === "/api/accounts") return Response.json({ value: Object.keys(lists).map(account) });
    const id = /^\/api\/accounts\/(\w+)\/jobs/.exec(path)?.[1] ?? "";
    const rows = lists[id];
    if (!rows) return Response.json({ error: { message: `No right to read ${id}.` } }, { status: 403 });
    return Response.json({ value: rows.map((row) => ({ account: id, id: row })) });
  });
}

afterEach(() => mock.restoreAll());

async function polled(poller: ListPoller<Row>, chosen = ""): Promise<ListSnapshot<Row> | null> {
  new FakePage().open();
  const stop = poller.start({ account: chosen, parameters: "?x=1" }, () => {});
  for (let turn = 0; turn < 20; turn++) await settled();
  stop();
  return poller.result.value;
}

test("the rows of all accounts are read", async () => {
  serve({ a: ["1", "2"], b: ["3"] });
  const found = await polled(new ListPoller<Row>("jobs"));
  assert.deepEqual(
    found?.rows.map(({ id }) => id),
    ["1", "2", "3"],
  );
  assert.deepEqual([found?.readAccounts, found?.truncated, found?.errors], [["a", "b"], false, []]);
});

test("with a chosen account only its rows are read", async () => {
  serve({ a: ["1", "2"], b: ["3"] });
  const found = await polled(new ListPoller<Row>("jobs"), "b");
  assert.deepEqual(
    found?.rows.map(({ id }) => id),
    ["3"],
  );
  assert.deepEqual(
    found?.accounts.map(({ id }) => id),
    ["a", "b"],
  );
});

test("an account that can't be read keeps its older rows, and says why", async () => {
  const poller = new ListPoller<Row>("jobs");
  serve({ a: ["1"], b: ["3"] });
  await polled(poller);
  mock.restoreAll();
  serve({ a: ["1", "2"], b: null });
  const found = await polled(poller);
  assert.deepEqual(
    found?.rows.map(({ id }) => id),
    ["1", "2", "3"],
  );
  assert.deepEqual([found?.readAccounts, found?.errors], [["a"], [{ account: "b", message: "No right to read b." }]]);
});

test("the more rows there are, the longer it waits", async () => {
  serve({ a: Array.from({ length: 1000 }, (_, index) => String(index)) });
  const page = new FakePage().open();
  const stop = new ListPoller<Row>("jobs").start({ account: "", parameters: "" }, () => {});
  for (let turn = 0; turn < 20; turn++) await settled();
  assert.equal(page.wait, 5000);
  stop();
});

test("a snapshot of all accounts answers a query for one, and not the other way round", () => {
  const all = snapshot({});
  const one = snapshot({ query: { account: "a", parameters: "" } });
  assert.ok(answersQuery(all, { account: "a", parameters: "" }));
  assert.ok(!answersQuery(one, { account: "", parameters: "" }));
  assert.ok(!answersQuery(all, { account: "", parameters: "?state=active" }));
});

test("an empty list counts only if every account was read and listed", () => {
  const query = { account: "", parameters: "" };
  assert.ok(canCount(snapshot({}), query, () => true));
  assert.ok(!canCount(snapshot({ readAccounts: ["a"] }), query, () => true));
  assert.ok(!canCount(snapshot({}), query, ({ id }) => id === "a"));
  assert.ok(canCount(snapshot({ rows: [{ account: "a", id: "1" }], readAccounts: [] }), query, () => false));
});

test("ids of any kind are escaped in paths of the API", () => {
  assert.equal(pathOfJob({ account: "a", job: "x/y:z" }, "tasks", "1 2"), "/api/accounts/a/jobs/x%2Fy%3Az/tasks/1%202");
  assert.equal(pathOfPool({ account: "a", pool: "gpu" }), "/api/accounts/a/pools/gpu");
  assert.equal(pathOfAccount("a b", "events"), "/api/accounts/a%20b/events");
});
