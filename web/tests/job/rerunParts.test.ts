import assert from "node:assert/strict";
import { test } from "node:test";
import { rerunParts } from "../../src/job/rerunParts.ts";

test("a group of up to 15,000 tasks has one script, larger ones several", () => {
  assert.deepEqual([0, 1, 15_000, 15_001, 20_001, 100_000, 1_000_000].map(rerunParts), [1, 1, 1, 2, 2, 7, 67]);
});
