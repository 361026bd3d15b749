// Changes of a pool's settings: by moment, and as text.

import assert from "node:assert/strict";
import { test } from "node:test";
import { within } from "../../src/charts/changes.ts";
import { changesText, changeText, marksOf, momentsOf } from "../../src/pool/settingChanges.ts";

const change = (name: string, time = "2026-11-29T10:00:00Z") => ({ name, time, before: "4", after: null as string | null });

test("a change shows both values, and none where there is none", () => {
  assert.equal(changeText({ ...change("taskSlotsPerNode"), after: "8" }), "taskSlotsPerNode 4 → 8");
  assert.equal(changeText({ ...change("metadata"), before: null }), "metadata none → none");
});

test("changes of one moment belong together", () => {
  const found = momentsOf([change("a"), change("b"), change("c", "2026-11-28T10:00:00Z")]);
  assert.deepEqual(found.map(({ changes }) => changes.map(({ name }) => name)), [["a", "b"], ["c"]]);
});

test("each moment has one mark, and those outside a range have none", () => {
  const marks = marksOf([change("a"), change("b"), change("c", "2026-11-28T10:00:00Z")]);
  const at = Date.parse("2026-11-29T10:00:00Z");
  assert.deepEqual(marks[0], { at, text: "a 4 → none, b 4 → none" });
  assert.deepEqual(
    [within(marks, at, at), within(marks, at - 1, at), within(marks, at + 1, at + 2)].map((some) => some.length),
    [1, 1, 0],
  );
  assert.equal(within(marks, 0, at).length, 2);
});

test("of many changes three are named", () => {
  const many = ["a", "b", "c", "d", "e"].map((name) => ({ ...change(name), after: "1" }));
  assert.equal(changesText(many), "a 4 → 1, b 4 → 1, c 4 → 1, and 2 more changes");
});
