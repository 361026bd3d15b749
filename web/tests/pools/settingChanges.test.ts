// Changes of a pool's settings: by moment, and as text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changesText, changeText, momentsOf } from "../../src/pool/settingChanges.ts";

const change = (name: string, time = "2026-11-29T10:00:00Z") => ({ name, time, before: "4", after: null as string | null });

test("a change shows both values, and none where there is none", () => {
  assert.equal(changeText({ ...change("taskSlotsPerNode"), after: "8" }), "taskSlotsPerNode 4 → 8");
  assert.equal(changeText({ ...change("metadata"), before: null }), "metadata none → none");
});

test("changes of one moment belong together", () => {
  const found = momentsOf([change("a"), change("b"), change("c", "2026-11-28T10:00:00Z")]);
  assert.deepEqual(found.map(({ changes }) => changes.map(({ name }) => name)), [["a", "b"], ["c"]]);
});

test("of many changes three are named", () => {
  const many = ["a", "b", "c", "d", "e"].map((name) => ({ ...change(name), after: "1" }));
  assert.equal(changesText(many), "a 4 → 1, b 4 → 1, c 4 → 1, and 2 more changes");
});
