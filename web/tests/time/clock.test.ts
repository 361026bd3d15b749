import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerClock } from "../../src/time/clock.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");

/** Milliseconds that the clock is ahead of this machine's, which is at noon. */
function aheadOf(clock: ServerClock): number {
  const real = Date.now;
  Date.now = () => NOON;
  try {
    return clock.now() - NOON;
  } finally {
    Date.now = real;
  }
}

function dated(at: number): string {
  return new Date(at).toUTCString();
}

test("without a response the time is this machine's", () => {
  assert.equal(aheadOf(new ServerClock()), 0);
});

test("several responses give closer bounds than a slow one", () => {
  const clock = new ServerClock();
  clock.observe(dated(NOON + 60_000), NOON - 4_000, NOON + 4_000); // 56 to 65 s ahead
  assert.equal(aheadOf(clock), 60_500);
  clock.observe(dated(NOON + 60_000), NOON, NOON); // 60 to 61 s ahead
  clock.observe(dated(NOON + 60_000), NOON - 400, NOON - 400); // 60.4 to 61.4 s ahead
  assert.equal(aheadOf(clock), 60_700);
});

test("a response that contradicts the bounds replaces them, as when a laptop's clock is set", () => {
  const clock = new ServerClock();
  clock.observe(dated(NOON), NOON, NOON);
  clock.observe(dated(NOON - 3_600_000), NOON, NOON);
  assert.equal(aheadOf(clock), -3_600_000 + 500);
});

test("a response without a valid date is ignored", () => {
  const clock = new ServerClock();
  clock.observe(null, NOON, NOON);
  clock.observe("yesterday", NOON, NOON);
  assert.equal(aheadOf(clock), 0);
});
