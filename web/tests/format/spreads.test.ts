import assert from "node:assert/strict";
import { test } from "node:test";
import { spreadText } from "../../src/format/spreads.ts";

const hours = (value: number) => `${Math.round(value)} h`;

test("a spread is only shown where its ends read otherwise than the figure", () => {
  assert.equal(spreadText({ expected: 25, low: 24, high: 27 }, hours), "25 h (24 h to 27 h)");
  assert.equal(spreadText({ expected: 25, low: 24.9, high: 25.2 }, hours), "25 h");
  assert.equal(spreadText({ expected: 25, low: 25, high: 26 }, hours), "25 h (25 h to 26 h)");
});
