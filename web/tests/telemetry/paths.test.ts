import "../zone.ts";
import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import type { PoolView } from "../../src/routing/poolView.ts";
import { chartRangeOf, csvOfNode, pathOfNode } from "../../src/telemetry/paths.ts";
import { parametersOf } from "../address.ts";

const VIEW = { account: "a", pool: "gpu", node: "tvm/1" } as PoolView;

beforeEach(() => mock.timers.enable({ apis: ["Date"], now: Date.parse("2026-11-21T12:34:56Z") }));
afterEach(() => mock.timers.reset());

test("an unknown chart range counts as an hour", () => {
  assert.equal(chartRangeOf("7d"), "7d");
  assert.equal(chartRangeOf(""), "1h");
  assert.equal(chartRangeOf("2h"), "1h");
});

test("charts are requested with all their series, without single cores", () => {
  const path = pathOfNode(VIEW, "1h", "");
  assert.ok(path.startsWith("/api/accounts/a/pools/gpu/nodes/tvm%2F1/telemetry?"));
  const query = parametersOf(path);
  assert.deepEqual(
    [query.from, query.attributes, query.step],
    ["2026-11-21T11:34:00Z", "cpu.logical_number=", undefined],
  );
  assert.ok(query.name?.split(",").includes("system.memory.usage"));
});

test("cores are requested separately, with the steps of the charts", () => {
  assert.deepEqual(parametersOf(pathOfNode(VIEW, "24h", "PT1H", "cores")), {
    from: "2026-11-20T12:30:00Z",
    name: "system.cpu.utilization",
    attributes: "cpu.mode=idle",
    step: "PT1H",
  });
});

test("a CSV table has every series, also of single cores", () => {
  const query = parametersOf(csvOfNode(VIEW, "1h"));
  assert.deepEqual([query.format, query.attributes], ["csv", undefined]);
});
