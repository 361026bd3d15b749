import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { Feed, fits, isCounted, type Picture } from "../../src/api/feed.ts";
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

function picture(change: Partial<Picture<Row>>): Picture<Row> {
  const asked = { account: "", query: "" };
  return {
    accounts: [account("a"), account("b")],
    rows: [],
    problems: [],
    more: false,
    read: ["a", "b"],
    asked,
    ...change,
  };
}

/** A server that lists rows by account; an account of null refuses. */
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

async function watched(feed: Feed<Row>, chosen = ""): Promise<Picture<Row> | null> {
  new FakePage().open();
  const stop = feed.start({ account: chosen, query: "?x=1" }, () => {});
  for (let turn = 0; turn < 20; turn++) await settled();
  stop();
  return feed.result.value;
}

test("the rows of all accounts are read", async () => {
  serve({ a: ["1", "2"], b: ["3"] });
  const found = await watched(new Feed<Row>("jobs"));
  assert.deepEqual(
    found?.rows.map(({ id }) => id),
    ["1", "2", "3"],
  );
  assert.deepEqual([found?.read, found?.more, found?.problems], [["a", "b"], false, []]);
});

test("of one account that is chosen only its rows are read", async () => {
  serve({ a: ["1", "2"], b: ["3"] });
  const found = await watched(new Feed<Row>("jobs"), "b");
  assert.deepEqual(
    found?.rows.map(({ id }) => id),
    ["3"],
  );
  assert.deepEqual(
    found?.accounts.map(({ id }) => id),
    ["a", "b"],
  );
});

test("an account that refuses keeps the rows that it had, and says why", async () => {
  const feed = new Feed<Row>("jobs");
  serve({ a: ["1"], b: ["3"] });
  await watched(feed);
  mock.restoreAll();
  serve({ a: ["1", "2"], b: null });
  const found = await watched(feed);
  assert.deepEqual(
    found?.rows.map(({ id }) => id),
    ["1", "2", "3"],
  );
  assert.deepEqual([found?.read, found?.problems], [["a"], [{ account: "b", message: "No right to read b." }]]);
});

test("the more rows there are, the longer it rests", async () => {
  serve({ a: Array.from({ length: 1000 }, (_, index) => String(index)) });
  const page = new FakePage().open();
  const stop = new Feed<Row>("jobs").start({ account: "", query: "" }, () => {});
  for (let turn = 0; turn < 20; turn++) await settled();
  assert.equal(page.wait, 5000);
  stop();
});

test("a picture of all accounts answers what is asked of one, and not the other way round", () => {
  const all = picture({});
  const one = picture({ asked: { account: "a", query: "" } });
  assert.ok(fits(all, { account: "a", query: "" }));
  assert.ok(!fits(one, { account: "", query: "" }));
  assert.ok(!fits(all, { account: "", query: "?state=active" }));
});

test("no rows count only where every account was read and lists some", () => {
  const asked = { account: "", query: "" };
  assert.ok(isCounted(picture({}), asked, () => true));
  assert.ok(!isCounted(picture({ read: ["a"] }), asked, () => true));
  assert.ok(!isCounted(picture({}), asked, ({ id }) => id === "a"));
  assert.ok(isCounted(picture({ rows: [{ account: "a", id: "1" }], read: [] }), asked, () => false));
});

test("ids of any kind are escaped in paths of the API", () => {
  assert.equal(pathOfJob({ account: "a", job: "x/y:z" }, "tasks", "1 2"), "/api/accounts/a/jobs/x%2Fy%3Az/tasks/1%202");
  assert.equal(pathOfPool({ account: "a", pool: "gpu" }), "/api/accounts/a/pools/gpu");
  assert.equal(pathOfAccount("a b", "events"), "/api/accounts/a%20b/events");
});
