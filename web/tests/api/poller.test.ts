import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, UnreachableError } from "../../src/api/client.ts";
import { Poller, type Reading, sentenceOf } from "../../src/api/poller.ts";
import { FakePage, settled } from "./page.ts";

type Next = number | Error;

/** A poller that reads what is next, of which the last goes on for ever, and rests for three seconds. */
function polling(...next: Next[]) {
  const page = new FakePage().open();
  const readings: Reading<number>[] = [];
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
    (reading) => readings.push(reading),
  );
  return { page, poller, readings, signals };
}

test("after a success it rests", async () => {
  const { page, poller, readings } = polling(7);
  poller.start();
  await settled();
  assert.deepEqual(readings, [{ value: 7, failure: null }]);
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

test("a failure keeps what was read before, and tells since when", async () => {
  const { page, poller, readings } = polling(
    7,
    new ApiError(503, "Storage is away.", 5, "StorageUnavailable"),
    new UnreachableError(),
  );
  poller.start();
  await settled();
  await page.pass();
  await page.pass();
  const [, first, second] = readings;
  assert.equal(first?.value, 7);
  assert.equal(first?.failure?.message, "Storage is away.");
  assert.equal(first?.failure?.code, "StorageUnavailable");
  assert.equal(second?.value, 7);
  assert.equal(second?.failure?.message, null);
  assert.equal(second?.failure?.since, first?.failure?.since);
});

test("a page that is hidden isn't polled, and is at once when it shows again", async () => {
  const { page, poller, readings } = polling(7);
  page.hidden = true;
  poller.start();
  await settled();
  assert.deepEqual([readings.length, page.wait], [1, null]);
  page.hidden = false;
  page.tell("visibilitychange");
  await settled();
  assert.deepEqual([readings.length, page.wait], [2, 3000]);
});

test("hiding the page gives up what is under way", async () => {
  const { page, poller, readings, signals } = polling(7);
  poller.start();
  page.hidden = true;
  page.tell("visibilitychange");
  await settled();
  assert.deepEqual([readings.length, signals[0]?.aborted, page.wait], [0, true, null]);
});

test("asking again gives up what is under way, so that one answer comes", async () => {
  const { poller, readings, signals } = polling(1, 2);
  poller.start();
  poller.refresh();
  await settled();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, false],
  );
  assert.deepEqual(
    readings.map(({ value }) => value),
    [2],
  );
});

test("asking later replaces what was planned", async () => {
  const { page, poller } = polling(7);
  poller.start();
  await settled();
  poller.refreshIn(150);
  assert.deepEqual(
    page.timers.map(({ wait }) => wait),
    [150],
  );
});

test("a poller that was stopped reads no more, whatever happens to the page", async () => {
  const { page, poller, readings } = polling(7);
  const stop = poller.start();
  stop();
  page.tell("online");
  await settled();
  assert.deepEqual([readings.length, page.wait], [0, null]);
});

test("a rest without end plans nothing", async () => {
  const page = new FakePage().open();
  new Poller(
    async () => 7,
    () => Infinity,
    () => {},
  ).start();
  await settled();
  assert.equal(page.wait, null);
});

test("a failure is told in the server's words, with when to try again", () => {
  assert.equal(sentenceOf(new ApiError(429, "Too many requests.", 5)), "Too many requests; try again in 5 s.");
  assert.equal(sentenceOf(new ApiError(400, "No such state.")), "No such state.");
  assert.equal(sentenceOf(new UnreachableError()), "The server doesn't respond.");
  assert.equal(sentenceOf("odd"), "odd");
});
