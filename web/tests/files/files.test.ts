import assert from "node:assert/strict";
import { test } from "node:test";
import { isOfEarlierRun, keptPart } from "../../src/files/keptOutput.ts";
import { foldersAround, nameOf, pathIn, pathOfFile, pathOfFolder } from "../../src/files/model.ts";
import { appended, type FilePart, lastLines, linesOf, MAX_SHOWN, partOf, prepended } from "../../src/files/shownFile.ts";

const ESCAPE = String.fromCharCode(27);

function part(text: string, { start = 0, size = 0 } = {}): FilePart {
  const bytes = new TextEncoder().encode(text);
  const next = start + bytes.length;
  return { start, next, size: size || next, encoding: "utf-8", bytes, keptAt: null };
}

function textOf({ bytes }: FilePart): string {
  return new TextDecoder().decode(bytes);
}

test("a path is encoded by its parts, a folder as a parameter", () => {
  assert.equal(pathOfFile("/api/files", "wd/a b#?.txt"), "/api/files/wd/a%20b%23%3F.txt");
  assert.equal(pathOfFolder("/api/files", "wd/a&b"), "/api/files?folder=wd%2Fa%26b");
  assert.equal(pathOfFolder("/api/files", ""), "/api/files");
});

test("the folders around a path are named, the outermost first", () => {
  assert.deepEqual(foldersAround("wd/results/a.txt"), ["wd", "wd/results"]);
  assert.deepEqual(foldersAround("stderr.txt"), []);
  assert.equal(nameOf("wd/results/a.txt"), "a.txt");
  assert.deepEqual([pathIn("wd", "a.txt"), pathIn("", "a.txt")], ["wd/a.txt", "a.txt"]);
});

test("the headers of an answer say where its part is in the file", () => {
  const headers = new Headers({
    "Batchscope-Offset": "7",
    "Batchscope-Next-Offset": "9",
    "Batchscope-File-Size": "12",
    "Content-Type": "text/plain; charset=utf-16le",
  });
  const { bytes, ...others } = partOf(headers, new Uint8Array([65, 0]));
  assert.deepEqual(others, { start: 7, next: 9, size: 12, encoding: "utf-16le", keptAt: null });
  assert.equal(bytes.length, 2);
  assert.equal(partOf(new Headers({ "Content-Type": "application/octet-stream" }), bytes).encoding, null);
});

test("a header says when a part was kept", () => {
  const headers = new Headers({ "Batchscope-Kept-At": "2026-03-01T10:00:00Z" });
  assert.equal(partOf(headers, new Uint8Array()).keptAt, "2026-03-01T10:00:00Z");
});

test("a kept output is of an earlier run if the server says so or a later one has begun", () => {
  const stream = { text: "x\n", size: 9, offset: 7, message: null };
  const kept = { keptTime: "2026-03-01T10:00:01Z", endTime: "2026-03-01T10:00:00Z", stderr: stream, stdout: stream };
  assert.equal(isOfEarlierRun(kept, null), false);
  assert.equal(isOfEarlierRun(kept, "2026-03-01T09:59:59.9999999Z"), false);
  assert.equal(isOfEarlierRun(kept, "2026-03-01T10:00:00.1234567Z"), true);
  assert.equal(isOfEarlierRun({ ...kept, latestRun: false }, null), true);
  const part = keptPart(kept, "stderr.txt");
  assert.deepEqual([part?.start, part?.next, part?.size, part?.keptAt], [7, 9, 9, kept.keptTime]);
});

test("a later part follows the shown one, and an earlier one comes before it", () => {
  const shown = part("middle\n", { start: 6 });
  assert.equal(textOf(appended(shown, part("end\n", { start: 13 }))), "middle\nend\n");
  const whole = prepended(shown, part("begin\n"));
  assert.equal(textOf(whole), "begin\nmiddle\n");
  assert.deepEqual([whole.start, whole.next], [0, 13]);
});

test("parts that don't touch aren't joined", () => {
  const shown = part("middle\n", { start: 6 });
  assert.equal(prepended(shown, part("beg")), shown);
  const anew = part("new", { start: 3, size: 6 });
  assert.equal(appended(shown, anew), anew);
});

test("a file that is followed for long loses its beginning", () => {
  const long = appended(part("a".repeat(MAX_SHOWN)), part("bc", { start: MAX_SHOWN }));
  assert.deepEqual([long.start, long.bytes.length, long.next], [2, MAX_SHOWN, MAX_SHOWN + 2]);
});

test("a line whose beginning is missing is left out, unless it is the only one", () => {
  assert.deepEqual(linesOf(part("f a line\nnext\n", { start: 5 })), ["next"]);
  assert.deepEqual(linesOf(part("f a line", { start: 5 })), ["f a line"]);
  assert.deepEqual(linesOf(part("first\r\nsecond")), ["first", "second"]);
  assert.deepEqual(linesOf(part("")), []);
});

test("colours and overwritten progress bars aren't shown", () => {
  const text = `${ESCAPE}[1;31merror${ESCAPE}[0m\tbad\n 10 %\r 50 %\r100 %\r\n\t[INFO] done\n`;
  assert.deepEqual(linesOf(part(text)), ["error    bad", "100 %", "    [INFO] done"]);
});

test("the last lines end with one that isn't empty", () => {
  assert.deepEqual(lastLines(part("a\nb\nc\n\n \n"), 2), ["b", "c"]);
  assert.deepEqual(lastLines(part("\n\n"), 2), []);
});

test("UTF-16 is decoded, also without a mark at its beginning", () => {
  const bytes = new Uint8Array([72, 0, 105, 0, 10, 0]);
  assert.deepEqual(linesOf({ start: 0, next: 6, size: 6, encoding: "utf-16le", bytes, keptAt: null }), ["Hi"]);
});

test("a sign that is cut by the end of the part isn't shown", () => {
  const wide = new Uint8Array([72, 0, 105, 0, 10]);
  assert.deepEqual(linesOf({ start: 0, next: 5, size: 6, encoding: "utf-16le", bytes: wide, keptAt: null }), ["Hi"]);
  const { bytes } = part("Größe");
  assert.deepEqual(linesOf({ start: 0, next: 3, size: 7, encoding: "utf-8", bytes: bytes.slice(0, 3), keptAt: null }), ["Gr"]);
});
