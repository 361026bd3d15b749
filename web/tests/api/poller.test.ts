import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, UnreachableError } from "../../src/api/client.ts";
import { errorMessage, Poller, type PollResult } from "../../src/api/poller.ts";
import { FakePage, settled } from "./page.ts";

type Next = number | Error;

/** A poller that reads the next values in order, repeats the last one, and waits three seconds between them. */
function polling(...next: Next[]) {
  const page = new FakePage().open();
  const results: PollResult<number>[] = [];
  const signals: AbortSignal[] = [];
  const read = async (signal: AbortSignal) => {
    signals.push(signal);
    const found = next.length > 1 ? next.shift() : next[0];
    if (found instanceof Error) throw found;
    return found ?? 0;
  };
  const poller = new Poller(
    read,
    () => 3000,
    (result) => results.push(result),
  );
  return { page, poller, results, signals };
}

test("after a success it waits", async () => {
  const { page, poller, results } = polling(7);
  poller.start();
  await settled();
  assert.deepEqual(results, [{ value: 7, failure: null }]);
  assert.equal(page.wait, 3000);
});

test("it backs off while the server doesn't answer, up to ten seconds", async () => {
  const { page, poller } = polling(new UnreachableError());
  poller.start();
  const waits = [];
  for (let turn = 0; turn < 6; turn++) {
    await (turn ? page.pass() : settled());
    waits.push(page.wait);
  }
  assert.deepEqual(waits, [2000, 4000, 8000, 10_000, 10_000, 10_000]);
});

test("a success ends the back-off", async () => {
  const { page, poller } = polling(new UnreachableError(), new UnreachableError(), 7, new UnreachableError());
  poller.start();
  await settled();
  await page.pass();
  await page.pass();
  assert.equal(page.wait, 3000);
  await page.pass();
  assert.equal(page.wait, 2000);
});

test("a failure keeps the last value, and says since when", async () => {
  const { page, poller, results } = polling(
    7,
    new ApiError(503, "Storage is away.", 5, "StorageUnavailable"),
    new UnreachableError(),
  );
  poller.start();
  await settled();
  await page.pass();
  await page.pass();
  const [, first, second] = results;
  assert.equal(first?.value, 7);
  assert.equal(first?.failure?.message, "Storage is away.");
  assert.equal(first?.failure?.code, "StorageUnavailable");
  assert.equal(second?.value, 7);
  assert.equal(second?.failure?.message, null);
  assert.equal(second?.failure?.since, first?.failure?.since);
});

test("a page that is hidden isn't polled, and is at once when it shows again", async () => {
  const { page, poller, results } = polling(7);
  page.hidden = true;
  poller.start();
  await settled();
  assert.deepEqual([results.length, page.wait], [1, null]);
  page.hidden = false;
  page.dispatch("visibilitychange");
  await settled();
  assert.deepEqual([results.length, page.wait], [2, 3000]);
});

test("hiding the page aborts the poll under way", async () => {
  const { page, poller, results, signals } = polling(7);
  poller.start();
  page.hidden = true;
  page.dispatch("visibilitychange");
  await settled();
  assert.deepEqual([results.length, signals[0]?.aborted, page.wait], [0, true, null]);
});

test("a refresh aborts the poll under way, so that only one answer arrives", async () => {
  const { poller, results, signals } = polling(1, 2);
  poller.start();
  poller.refresh();
  await settled();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
  assert.deepEqual(
    results.map(({ value }) => value),
    [2],
  );
});

test("a later refresh replaces the planned poll", async () => {
  const { page, poller } = polling(7);
  poller.start();
  await settled();
  poller.refreshIn(150);
  assert.deepEqual(
    page.timers.map(({ wait }) => wait),
    [150],
  );
});

test("a stopped poller reads no more, even when the page comes online", async () => {
  const { page, poller, results } = polling(7);
  const stop = poller.start();
  stop();
  page.dispatch("online");
  await settled();
  assert.deepEqual([results.length, page.wait], [0, null]);
});

test("an endless delay plans no poll", async () => {
  const page = new FakePage().open();
  new Poller(
    async () => 7,
    () => Infinity,
    () => {},
  ).start();
  await settled();
  assert.equal(page.wait, null);
});

test("a failure is reported in the server's words, with when to try again", () => {
  assert.equal(errorMessage(new ApiError(429, "Too many requests.", 5)), "Too many requests; try again in 5 s.");
  assert.equal(errorMessage(new ApiError(400, "No such state.")), "No such state.");
  assert.equal(errorMessage(new UnreachableError()), "The server doesn't respond.");
  assert.equal(errorMessage("odd"), "odd");
});
