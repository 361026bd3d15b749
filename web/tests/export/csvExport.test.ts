import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../src/api/client.ts";
import { CsvExport, type Progress } from "../../src/export/csvExport.ts";
import { CsvParts, type CsvTarget, nextOf } from "../../src/export/csvParts.ts";

class MemoryTarget implements CsvTarget {
  text = "";
  calls: string[] = [];

  async add(rows: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    this.text += await new Response(rows).text();
  }

  async save(): Promise<void> {
    this.calls.push("saved");
  }

  async discard(): Promise<void> {
    this.calls.push("discarded");
  }
}

/** An export of parts, each a text or the error of a request, after which the next part follows. */
function exported(...parts: (string | Error)[]) {
  const target = new MemoryTarget();
  const shown: Progress[] = [];
  const request = async () => {
    const part = parts.shift();
    if (typeof part !== "string") throw part;
    return new Response(part, { headers: parts.length ? { Link: '</next>; rel="next"' } : {} });
  };
  const csvExport = new CsvExport(new CsvParts("/first", request, target), target, (progress) => shown.push(progress));
  return { csvExport, target, shown };
}

test("parts become one table with one line of headings", async () => {
  const { csvExport, target, shown } = exported("id\r\na\r\nb\r\n", "id\r\nc\r\n");
  await csvExport.resume();
  assert.equal(target.text, "id\r\na\r\nb\r\nc\r\n");
  assert.deepEqual(target.calls, ["saved"]);
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

test("an export that failed continues where it was", async () => {
  const { csvExport, target, shown } = exported(
    "id\r\na\r\n",
    new ApiError(429, "Too many requests.", 5),
    "id\r\nb\r\n",
  );
  await csvExport.resume();
  assert.deepEqual(shown.at(-1), { state: "failed", rows: 1, reason: "Too many requests; try again in 5 s." });
  await csvExport.resume();
  assert.equal(target.text, "id\r\na\r\nb\r\n");
  assert.equal(shown.at(-1)?.state, "saved");
});

test("the reason of a failure is a sentence", async () => {
  const failures: [Error, string][] = [
    [new TypeError("network error"), "The connection was lost; resume the export."],
    [new DOMException("late", "TimeoutError"), "The connection was lost; resume the export."],
    [new DOMException("No space.", "QuotaExceededError"), "The file can't be written: No space."],
    [new Error("Odd."), "Odd."],
  ];
  for (const [failure, reason] of failures) {
    const { csvExport, shown } = exported(failure);
    await csvExport.resume();
    assert.equal(shown.at(-1)?.reason, reason);
  }
});

test("a stopped export reports and keeps nothing any more", async () => {
  const { csvExport, target, shown } = exported("id\r\na\r\n", "id\r\nb\r\n");
  const running = csvExport.resume();
  csvExport.stop();
  await running;
  assert.deepEqual(target.calls, ["discarded"]);
  assert.deepEqual(
    shown.map(({ state }) => state),
    ["running"],
  );
});

test("stopping a failed export discards its rows", async () => {
  const { csvExport, target } = exported(new Error("Odd."));
  await csvExport.resume();
  csvExport.stop();
  assert.deepEqual(target.calls, ["discarded"]);
});

test("the next part is found among other links", () => {
  assert.equal(nextOf('</a>; rel="prev", </b?x=1,2>; title="x"; rel=next'), "/b?x=1,2");
  assert.equal(nextOf('</a>; rel="prev"'), null);
  assert.equal(nextOf(null), null);
});
