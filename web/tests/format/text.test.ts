import assert from "node:assert/strict";
import { test } from "node:test";
import { capitalized, shortId, spacedWords, splitAtHashes, visible } from "../../src/format/text.ts";

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

const NODE = `tvmps_${"3b44ee4f9e4adad1".repeat(4)}_d`;

test("a hash in an id loses its middle, and other ids stay whole", () => {
  assert.equal(shortId(NODE), "tvmps_3b44ee4f…dad1_d");
  assert.equal(shortId("tvmps_007c41a9e0d5b6_d"), "tvmps_007c41a9e0d5b6_d");
  assert.equal(shortId("3f2504e0-4f89-11d3-9a0c-0305e82c3301"), "3f2504e0-4f89-11d3-9a0c-0305e82c3301");
});

test("ids with hashes are found in sentences", () => {
  assert.deepEqual(splitAtHashes(`The node '${NODE}' is gone.`), ["The node '", NODE, "' is gone."]);
  assert.deepEqual(splitAtHashes("Nothing here."), ["Nothing here."]);
});
