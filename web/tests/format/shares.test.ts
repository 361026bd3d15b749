import assert from "node:assert/strict";
import { test } from "node:test";
import { sharesText } from "../../src/format/shares.ts";

test("shares are named as far as they are known", () => {
  assert.equal(sharesText({ cpu: 0.12, memory: 0.204, gpu: null }), "CPU 12%, memory 20%");
  assert.equal(sharesText({ cpu: null, memory: null, gpu: 0 }), "GPU 0%");
  assert.equal(sharesText({ cpu: 0.004, memory: null, gpu: 1 }), "CPU < 1%, GPU 100%");
  assert.equal(sharesText({ cpu: null, memory: null, gpu: null }), "");
});
