import assert from "node:assert/strict";
import { test } from "node:test";
import { begun, spoken, visible } from "../../src/format/text.ts";

test("characters that could disguise a text show as such", () => {
  assert.equal(visible("a\u202eb\u0000c\nd\ufeff"), "a\ufffdb\ufffdc\ufffdd\ufffd");
});

test("letters of any script stay as they are", () => {
  for (const text of ["größe", "ジョブ", "مهمة", "job-1_A.é", "👩‍🔬", ""]) assert.equal(visible(text), text);
});

test("names of the API are spoken as words", () => {
  assert.equal(spoken("catchingUp"), "catching up");
  assert.equal(spoken("exact"), "exact");
});

test("a sentence begins with a capital, whatever it begins with", () => {
  assert.equal(begun("exit code"), "Exit code");
  assert.equal(begun("éxito"), "Éxito");
  assert.equal(begun("3 nodes"), "3 nodes");
  assert.equal(begun(""), "");
});
