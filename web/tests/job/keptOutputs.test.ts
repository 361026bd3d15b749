import assert from "node:assert/strict";
import { test } from "node:test";
import { examplesOf, killsText, listedOutputs, nodesText, sampleText, timesOfKills } from "../../src/job/keptOutputs.ts";
import type { FailureGroup, OutputGroup } from "../../src/job/model.ts";

function output(id: string, count: number, newest = "b"): OutputGroup {
  const [first, last] = ["10", "11"].map((hour) => `2026-11-30T${hour}:00:00Z`) as [string, string];
  const examples = { first: { taskId: "a", endTime: first }, newest: { taskId: newest, endTime: last } };
  return { id, title: id, count, lines: [], advice: null, failureCategory: null, nodes: [], otherNodes: 0, tasks: [], ...examples };
}

function group(count: number, kept: number, outputs: OutputGroup[] = []): FailureGroup {
  const none = { category: null, code: null, exitCode: 1, firstTime: null, lastTime: null, advice: null };
  return { id: "g", ...none, count, nodes: [], otherNodes: 0, tasks: [], kept, outputs };
}

test("the most frequent outputs are shown, others folded, and those in no listed group counted", () => {
  const outputs = ["a", "b", "c", "d", "e"].map((id, index) => output(id, 9 - index));
  const { shown, folded, unlisted } = listedOutputs(group(400, 40, outputs));
  assert.deepEqual([shown.map(({ id }) => id), folded.map(({ id }) => id), unlisted], [["a", "b", "c"], ["d", "e"], 5]);
  assert.equal(listedOutputs(group(9, 9, [output("a", 9)])).unlisted, 0);
});

test("kept outputs are a sample where more tasks failed", () => {
  assert.equal(sampleText(group(1312, 5)), "5 kept, a sample of 1,312 failed tasks");
  assert.equal(sampleText(group(5, 5)), "5 kept");
  assert.equal(sampleText(group(2, 5)), "5 kept");
});

test("nodes that aren't listed make their number a lower bound", () => {
  const nodes = ["a", "b"].map((nodeId) => ({ poolId: "p", nodeId, count: 1 }));
  assert.equal(nodesText({ ...output("x", 2), nodes }), "2 nodes");
  assert.equal(nodesText({ ...output("x", 3), nodes: nodes.slice(1), otherNodes: 2 }), "at least 1 node");
});

test("the tasks of a message are joined to OOM kills of the time in which they failed", () => {
  const one = { ...output("x", 3), tasks: ["Frame-1", "frame-2", "frame-3"] };
  const kills = [{ taskId: "frame-1" }, { taskId: "FRAME-2" }, { taskId: "frame-2" }, { taskId: "other" }, { taskId: null }];
  assert.equal(killsText(one, kills, false), "The kernel killed processes of 2 of these 3 tasks for lack of memory.");
  assert.equal(killsText(one, kills, true), "The kernel killed processes of at least 2 of these 3 tasks for lack of memory.");
  assert.match(killsText(one, [], false), /^No node reported/);
  assert.match(killsText(one, [], true), /^There are too many/);
  assert.deepEqual(timesOfKills(one), { from: "2026-11-30T09:50:00.000Z", to: "2026-11-30T11:10:00.000Z" });
});

test("one example has one name, several are the first and the newest", () => {
  assert.deepEqual(
    examplesOf(output("x", 2)).map(({ name, taskId }) => [name, taskId]),
    [
      ["First", "a"],
      ["Newest", "b"],
    ],
  );
  assert.deepEqual(
    examplesOf(output("x", 1, "a")).map(({ name, endTime }) => [name, endTime]),
    [["Example", "2026-11-30T11:00:00Z"]],
  );
});
