import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { EventLogPoller, type EventLogState } from "../../src/events/eventLog.ts";
import { goTo } from "../address.ts";
import { FakePage, settled } from "../api/page.ts";

/** The server's answers by path, as ids of events and the path of older ones; null is an error. */
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

/** A poller of "/log" after its first poll. */
async function started(isBeingRead = () => false) {
  const shown: EventLogState[] = [];
  const poller = new EventLogPoller("/log", isBeingRead, (state) => shown.push(state));
  const stop = poller.start();
  await answered();
  const ids = () => shown.at(-1)?.value?.rows.map(({ id }) => id);
  return { poller, shown, stop, ids };
}

async function nextTurn(): Promise<void> {
  await page.pass();
  await answered();
}

test("a log grows at its top, poll by poll", async () => {
  pages = { "/log": [["b", "a"]] };
  const { ids } = await started();
  assert.deepEqual(ids(), ["b", "a"]);
  pages = { "/log": [["c", "b", "a"]] };
  await nextTurn();
  assert.deepEqual(ids(), ["c", "b", "a"]);
});

test("a log without new events stays the same object", async () => {
  pages = { "/log": [["b", "a"]] };
  const { shown } = await started();
  await nextTurn();
  assert.equal(shown.length, 2);
  assert.equal(shown[0]?.value, shown[1]?.value);
});

test("as many other events replace those before", async () => {
  pages = { "/log": [["b", "a"]] };
  const { ids } = await started();
  pages = { "/log": [["d", "c"]] };
  await nextTurn();
  assert.deepEqual(ids(), ["d", "c"]);
});

test("older events are requested once at a time, and follow the loaded ones", async () => {
  pages = { "/log": [["d", "c"], "/log?skip=2"], "/log?skip=2": [["b", "a"]] };
  const { poller, shown, ids } = await started();
  await Promise.all([poller.loadOlder(), poller.loadOlder()]);
  assert.deepEqual(ids(), ["d", "c", "b", "a"]);
  assert.deepEqual([shown.at(-1)?.value?.next, shown.at(-1)?.isLoadingOlder], [null, false]);
});

test("older events that can't be read leave the loaded ones, and say why", async () => {
  pages = { "/log": [["b", "a"], "/log?skip=2"] };
  const { poller, shown, ids } = await started();
  await poller.loadOlder();
  assert.deepEqual(ids(), ["b", "a"]);
  assert.deepEqual([shown.at(-1)?.failure?.message, shown.at(-1)?.isLoadingOlder], ["Storage is away.", false]);
});

test("without loaded events there are no older ones to request", async () => {
  pages = { "/log": null };
  const { poller, shown } = await started();
  const before = shown.length;
  await poller.loadOlder();
  assert.equal(shown.length, before);
  assert.equal(shown.at(-1)?.value, null);
});

test("a log that has grown long restarts, but not while it is being read", async () => {
  const many = Array.from({ length: 2001 }, (_, index) => `e${index}`);
  for (const isBeingRead of [true, false]) {
    pages = { "/log": [many] };
    const { ids, stop } = await started(() => isBeingRead);
    pages = { "/log": [["new", "e0"], "/log?skip=2"] };
    await nextTurn();
    assert.equal(ids()?.length, isBeingRead ? 2002 : 2);
    stop();
    page = new FakePage().open();
  }
});

test("a stopped poller reports nothing any more", async () => {
  pages = { "/log": [["b", "a"], "/log?skip=2"], "/log?skip=2": [["0"]] };
  const { poller, shown, stop } = await started();
  stop();
  const before = shown.length;
  await poller.loadOlder();
  assert.deepEqual([shown.length, page.wait], [before, null]);
});
