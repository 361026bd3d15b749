import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatExactTime, formatTime, timeZone } from "../../src/format/dates.ts";

test("a time is shown in the user's zone, in winter and in summer", () => {
  assert.equal(formatTime(Date.parse("2026-11-21T13:05:09Z")), "21 Nov, 14:05");
  assert.equal(formatTime(Date.parse("2026-07-01T22:30:00Z")), "2 Jul, 00:30");
  assert.equal(timeZone(), "Europe/Berlin");
});

test("an exact moment has seconds", () => {
  assert.equal(formatExactTime(Date.parse("2026-11-21T13:05:09.900Z")), "21 Nov, 14:05:09");
});

test("the repeated hour when clocks go back has the same text twice", () => {
  assert.equal(formatTime(Date.parse("2026-10-25T00:30:00Z")), "25 Oct, 02:30");
  assert.equal(formatTime(Date.parse("2026-10-25T01:30:00Z")), "25 Oct, 02:30");
});
