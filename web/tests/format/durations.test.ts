import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAge, formatDuration, formatSeconds, parseDuration } from "../../src/format/durations.ts";

const HOUR = 3_600_000;

test("a span has one unit and is rounded down", () => {
  assert.equal(formatAge(0), "0 s");
  assert.equal(formatAge(59_999), "59 s");
  assert.equal(formatAge(60_000), "1 min");
  assert.equal(formatAge(HOUR - 1), "59 min");
  assert.equal(formatAge(HOUR), "1 h");
  assert.equal(formatAge(23.9 * HOUR), "23 h");
  assert.equal(formatAge(400 * 24 * HOUR), "400 d");
});

test("negative durations count as zero", () => {
  assert.equal(formatAge(-5000), "0 s");
  assert.equal(formatDuration(-5000), "0.0 s");
});

test("a short duration shows tenths of a second", () => {
  assert.equal(formatDuration(40), "0.0 s");
  assert.equal(formatDuration(449), "0.4 s");
  assert.equal(formatDuration(9_940), "9.9 s");
  assert.equal(formatDuration(10_000), "10 s");
  assert.equal(formatDuration(200_000), "3 min");
});

test("seconds have two units at most, and no empty second one", () => {
  assert.equal(formatSeconds(0.44), "0.4 s");
  assert.equal(formatSeconds(10), "10 s");
  assert.equal(formatSeconds(12.4), "12 s");
  assert.equal(formatSeconds(200), "3 min 20 s");
  assert.equal(formatSeconds(180), "3 min");
  assert.equal(formatSeconds(5 * 3600 + 12 * 60 + 59), "5 h 12 min");
  assert.equal(formatSeconds(2 * 86_400 + 3 * 3600), "2 d 3 h");
  assert.equal(formatSeconds(30 * 86_400), "30 d");
});

test("durations that round up to a minute, an hour or a day become one", () => {
  assert.equal(formatSeconds(59.6), "1 min");
  assert.equal(formatSeconds(3599.6), "1 h");
  assert.equal(formatSeconds(86_399.6), "1 d");
});

test("durations of the API are read with every part", () => {
  assert.equal(parseDuration("PT1M"), 60_000);
  assert.equal(parseDuration("PT2H30M"), 2.5 * HOUR);
  assert.equal(parseDuration("P1DT1H1M1.5S"), 25 * HOUR + 61_500);
  assert.equal(parseDuration("PT0.25S"), 250);
});

test("an invalid duration counts as zero", () => {
  for (const text of ["", "P", "1 h", "-PT1M", "PT1M ", "P1Y"]) assert.equal(parseDuration(text), 0, text);
});
