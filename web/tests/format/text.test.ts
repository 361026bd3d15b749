import assert from "node:assert/strict";
import { test } from "node:test";
import { capitalized, spacedWords, visible } from "../../src/format/text.ts";

test("characters that could disguise a text become visible", () => {
  assert.equal(visible("a\u202eb\u0000c\nd\ufeff"), "a\ufffdb\ufffdc\ufffdd\ufffd");
});

test("letters of all scripts are unchanged", () => {
  for (const text of ["größe", "ジョブ", "مهمة", "job-1_A.é", "👩‍🔬", ""]) assert.equal(visible(text), text);
});

test("names of the API become words", () => {
  assert.equal(spacedWords("catchingUp"), "catching up");
  assert.equal(spacedWords("exact"), "exact");
  assert.equal(spacedWords("nodeAgentSKUId"), "node agent SKU id");
  assert.equal(spacedWords("publicIPAddress"), "public IP address");
  assert.equal(spacedWords("diskSizeGB"), "disk size GB");
});

test("the first character of a text becomes a capital, if it has one", () => {
  assert.equal(capitalized("exit code"), "Exit code");
  assert.equal(capitalized("éxito"), "Éxito");
  assert.equal(capitalized("3 nodes"), "3 nodes");
  assert.equal(capitalized(""), "");
});
