import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCompact, formatCount, formatRate, formatShare, plural, statesText } from "../../src/format/numbers.ts";

test("numbers have separators of thousands, however large they are", () => {
  assert.equal(formatCount(0), "0");
  assert.equal(formatCount(999), "999");
  assert.equal(formatCount(1_234_567), "1,234,567");
  assert.equal(formatCount(-1200), "-1,200");
  assert.equal(formatCount(Number.MAX_SAFE_INTEGER), "9,007,199,254,740,991");
});

test("only one of a thing is singular", () => {
  assert.equal(plural(1, "job"), "1 job");
  assert.equal(plural(0, "job"), "0 jobs");
  assert.equal(plural(1001, "job"), "1,001 jobs");
});

test("states are listed in the given order", () => {
  assert.equal(statesText({ active: 2, disabled: 1200 }), "2 active, 1,200 disabled");
  assert.equal(statesText({}), "");
});

test("an unknown rate is a dash and never a zero", () => {
  assert.equal(formatRate(null), "–");
  assert.equal(formatRate(0), "0");
});

test("a rate keeps a decimal until it has three digits", () => {
  assert.equal(formatRate(12.44), "12.4");
  assert.equal(formatRate(99.95), "100");
  assert.equal(formatRate(100.4), "100");
  assert.equal(formatRate(1203.6), "1,204");
});

test("a rate that isn't zero is never shown as zero", () => {
  assert.equal(formatRate(0.04), "< 0.1");
  assert.equal(formatRate(0.1), "0.1");
});

test("a share is 100% or 0% only if it is exact", () => {
  assert.equal(formatShare(0, 7), "0%");
  assert.equal(formatShare(7, 7), "100%");
  assert.equal(formatShare(1, 1_000_000), "< 0.1%");
  assert.equal(formatShare(999_999, 1_000_000), "> 99.9%");
  assert.equal(formatShare(999, 1000), "99.9%");
  assert.equal(formatShare(989, 1000), "98.9%");
});

test("ticks of an axis are compact", () => {
  assert.equal(formatCompact(0), "0");
  assert.equal(formatCompact(1250), "1.3K");
  assert.equal(formatCompact(40_000_000), "40M");
});
