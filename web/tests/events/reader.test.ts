import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { type Kept, LogReader } from "../../src/events/log.ts";
import { goTo } from "../address.ts";
import { FakePage, settled } from "../api/page.ts";

/** What the server answers by path, as ids of events and where older ones are; null refuses. */
let pages: Record<string, [ids: string[], next?: string] | null> = {};
let page: FakePage;

beforeEach(() => {
  goTo("");
  page = new FakePage().open();
  mock.method(globalThis, "fetch", async (path: string) => {
    const found = pages[path];
    if (!found) return Response.json({ error: { message: "Storage is away." } }, { status: 503 });
    const [ids, nextLink] = found;
    return Response.json({ value: ids.map((id) => ({ id })), ...(nextLink && { nextLink }) });
  });
});
afterEach(() => mock.restoreAll());

async function answered(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await settled();
}

/** A reader of "/log" that has read it once; `isRead` tells whether somebody reads what is shown. */
async function started(isRead = () => false) {
  const shown: Kept[] = [];
  const reader = new LogReader("/log", isRead, (kept) => shown.push(kept));
  const stop = reader.start();
  await answered();
  const ids = () => shown.at(-1)?.value?.rows.map(({ id }) => id);
  return { reader, shown, stop, ids };
}

async function nextTurn(): Promise<void> {
  await page.pass();
  await answered();
}

test("a log grows at its head, turn by turn", async () => {
  pages = { "/log": [["b", "a"]] };
  const { ids } = await started();
  assert.deepEqual(ids(), ["b", "a"]);
  pages = { "/log": [["c", "b", "a"]] };
  await nextTurn();
  assert.deepEqual(ids(), ["c", "b", "a"]);
});

test("a log in which nothing happened stays the very same", async () => {
  pages = { "/log": [["b", "a"]] };
  const { shown } = await started();
  await nextTurn();
  assert.equal(shown.length, 2);
  assert.equal(shown[0]?.value, shown[1]?.value);
});

test("of as many events as before others are shown", async () => {
  pages = { "/log": [["b", "a"]] };
  const { ids } = await started();
  pages = { "/log": [["d", "c"]] };
  await nextTurn();
  assert.deepEqual(ids(), ["d", "c"]);
});

test("older events are asked for once at a time, and follow those at hand", async () => {
  pages = { "/log": [["d", "c"], "/log?skip=2"], "/log?skip=2": [["b", "a"]] };
  const { reader, shown, ids } = await started();
  await Promise.all([reader.older(), reader.older()]);
  assert.deepEqual(ids(), ["d", "c", "b", "a"]);
  assert.deepEqual([shown.at(-1)?.value?.next, shown.at(-1)?.older], [null, false]);
});

test("older events that can't be read leave what is shown as it is, and say why", async () => {
  pages = { "/log": [["b", "a"], "/log?skip=2"] };
  const { reader, shown, ids } = await started();
  await reader.older();
  assert.deepEqual(ids(), ["b", "a"]);
  assert.deepEqual([shown.at(-1)?.failure?.message, shown.at(-1)?.older], ["Storage is away.", false]);
});

test("without anything at hand there is nothing older to ask for", async () => {
  pages = { "/log": null };
  const { reader, shown } = await started();
  const before = shown.length;
  await reader.older();
  assert.equal(shown.length, before);
  assert.equal(shown.at(-1)?.value, null);
});

test("a log that has grown long begins anew, but not while somebody reads it", async () => {
  const many = Array.from({ length: 2001 }, (_, index) => `e${index}`);
  for (const isRead of [true, false]) {
    pages = { "/log": [many] };
    const { ids, stop } = await started(() => isRead);
    pages = { "/log": [["new", "e0"], "/log?skip=2"] };
    await nextTurn();
    assert.equal(ids()?.length, isRead ? 2002 : 2);
    stop();
    page = new FakePage().open();
  }
});

test("a reader that was stopped shows nothing any more", async () => {
  pages = { "/log": [["b", "a"], "/log?skip=2"], "/log?skip=2": [["0"]] };
  const { reader, shown, stop } = await started();
  stop();
  const before = shown.length;
  await reader.older();
  assert.deepEqual([shown.length, page.wait], [before, null]);
});
