import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText, coresOf, countText, cpuTimeOf, gpuOf, memoryPeakOf, runTimeOf } from "../../src/telemetry/series/attempts.ts";
import type { EndedAttempt, TaskTelemetryAnswer } from "../../src/telemetry/series/model.ts";

const UNKNOWN: EndedAttempt = {
  startTime: "2026-11-28T10:00:00Z",
  endTime: "2026-11-28T10:01:30Z",
  duration: null,
  durationUncertainty: null,
  cpuSeconds: null,
  cpuMissed: null,
  cpuSource: null,
  memoryPeak: null,
  memorySource: null,
  readBytes: null,
  writtenBytes: null,
  threads: null,
  gpuMemoryPeak: null,
  gpuUsage: null,
};
const attempt = (changes: Partial<EndedAttempt>): EndedAttempt => ({ ...UNKNOWN, ...changes });
const shown = (startTime: string | null, endTime: string | null, cpuCount: number | null) =>
  ({ startTime, endTime, telemetry: { facts: { cpuCount } } }) as TaskTelemetryAnswer;

test("unknown figures are a dash and never zero", () => {
  const figures = [runTimeOf(UNKNOWN), cpuTimeOf(UNKNOWN, 4), memoryPeakOf(UNKNOWN), gpuOf(UNKNOWN)];
  for (const figure of figures) assert.deepEqual(figure, { text: "–", note: "" });
  assert.deepEqual([bytesText(null), countText(null)], ["–", "–"]);
  assert.deepEqual([bytesText(0), countText(0)], ["0 B", "0"]);
});

test("CPU time comes with its mean number of cores, their share, and what may be missing", () => {
  const busy = { cpuSeconds: 180, duration: 90 };
  assert.deepEqual(cpuTimeOf(attempt({ ...busy, cpuMissed: 0, cpuSource: "exit_accounting" }), 4), {
    text: "3 min",
    note: "2 cores on average, 50% of 4, complete by exit accounting",
  });
  assert.equal(cpuTimeOf(attempt({ ...busy, cpuMissed: 0, cpuSource: "samples" }), null).note, "2 cores on average");
  assert.equal(
    cpuTimeOf(attempt({ ...busy, cpuMissed: 0.01 }), null).note,
    "2 cores on average, at most 0.1 s missing",
  );
  assert.deepEqual(cpuTimeOf(attempt({ cpuSeconds: 5 }), 4), { text: "5 s", note: "" });
});

test("the end of a run may have been seen late", () => {
  assert.deepEqual(runTimeOf(attempt({ duration: 90, durationUncertainty: 10 })), {
    text: "1 min 30 s",
    note: "up to 10 s less",
  });
});

test("peaks say whose figure they are", () => {
  assert.equal(memoryPeakOf(attempt({ memoryPeak: 2 ** 30, memorySource: "kernel" })).note, "by the kernel");
  assert.equal(memoryPeakOf(attempt({ memoryPeak: 2 ** 30, memorySource: "samples" })).note, "at samples");
  assert.deepEqual(memoryPeakOf(attempt({ memoryPeak: 2 ** 30, memorySource: "else" })), { text: "1 GiB", note: "" });
  assert.deepEqual(gpuOf(attempt({ gpuMemoryPeak: 2 ** 31, gpuUsage: 1.5 })), {
    text: "2 GiB",
    note: "1.5 GPUs on average",
  });
});

test("cores are known only of the node of the shown run", () => {
  assert.equal(coresOf(UNKNOWN, shown("2026-11-28T10:00:01Z", "2026-11-28T10:01:29Z", 8)), 8);
  assert.equal(coresOf(UNKNOWN, shown("2026-11-28T10:00:01Z", null, 8)), 8);
  assert.equal(coresOf(UNKNOWN, shown("2026-11-28T10:02:00Z", null, 8)), null);
  assert.equal(coresOf(UNKNOWN, shown("2026-11-28T09:00:00Z", "2026-11-28T09:30:00Z", 8)), null);
  assert.equal(coresOf(UNKNOWN, shown("2026-11-28T10:00:01Z", null, null)), null);
  assert.equal(coresOf(UNKNOWN, shown(null, null, 8)), null);
});
