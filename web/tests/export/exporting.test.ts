import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/client.ts";
import { Exporting, type Progress } from "../../src/export/exporting.ts";
import { nextOf, type Target, WholeTable } from "../../src/export/parts.ts";

class Kept implements Target {
  text = "";
  told: string[] = [];

  async add(rows: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    this.text += await new Response(rows).text();
  }

  async save(): Promise<void> {
    this.told.push("saved");
  }

  async discard(): Promise<void> {
    this.told.push("discarded");
  }
}

/** An export of parts, each a text or what it fails by; a part that failed is there the next time. */
function exported(...parts: (string | Error)[]) {
  const target = new Kept();
  const shown: Progress[] = [];
  const ask = async () => {
    const part = parts.shift();
    if (typeof part !== "string") throw part;
    return new Response(part, { headers: parts.length ? { Link: '</next>; rel="next"' } : {} });
  };
  const exporting = new Exporting(new WholeTable("/first", ask, target), target, (progress) => shown.push(progress));
  return { exporting, target, shown };
}

test("parts become one table with one line of headings", async () => {
  const { exporting, target, shown } = exported("id\r\na\r\nb\r\n", "id\r\nc\r\n");
  await exporting.goOn();
  assert.equal(target.text, "id\r\na\r\nb\r\nc\r\n");
  assert.deepEqual(target.told, ["saved"]);
  assert.deepEqual(
    shown.map(({ state, rows }) => [state, rows]),
    [
      ["running", 0],
      ["running", 2],
      ["running", 3],
      ["saved", 3],
    ],
  );
});

test("an export that failed goes on where it was", async () => {
  const { exporting, target, shown } = exported(
    "id\r\na\r\n",
    new ApiError(429, "Too many requests.", 5),
    "id\r\nb\r\n",
  );
  await exporting.goOn();
  assert.deepEqual(shown.at(-1), { state: "failed", rows: 1, why: "Too many requests; try again in 5 s." });
  await exporting.goOn();
  assert.equal(target.text, "id\r\na\r\nb\r\n");
  assert.equal(shown.at(-1)?.state, "saved");
});

test("what it fails by is told in a sentence", async () => {
  const failures: [Error, string][] = [
    [new TypeError("network error"), "The connection was lost."],
    [new DOMException("late", "TimeoutError"), "The connection was lost."],
    [new DOMException("No space.", "QuotaExceededError"), "The file can't be written: No space."],
    [new Error("Odd."), "Odd."],
  ];
  for (const [failure, why] of failures) {
    const { exporting, shown } = exported(failure);
    await exporting.goOn();
    assert.equal(shown.at(-1)?.why, why);
  }
});

test("an export that was stopped shows and keeps nothing any more", async () => {
  const { exporting, target, shown } = exported("id\r\na\r\n", "id\r\nb\r\n");
  const running = exporting.goOn();
  exporting.stop();
  await running;
  assert.deepEqual(target.told, ["discarded"]);
  assert.deepEqual(
    shown.map(({ state }) => state),
    ["running"],
  );
});

test("stopping one that failed discards what came", async () => {
  const { exporting, target } = exported(new Error("Odd."));
  await exporting.goOn();
  exporting.stop();
  assert.deepEqual(target.told, ["discarded"]);
});

test("the next part is found among other links", () => {
  assert.equal(nextOf('</a>; rel="prev", </b?x=1,2>; title="x"; rel=next'), "/b?x=1,2");
  assert.equal(nextOf('</a>; rel="prev"'), null);
  assert.equal(nextOf(null), null);
});
