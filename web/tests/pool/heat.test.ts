import "../zone.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { endsOf, heatMapOf, heatScaleOf, levelOf } from "../../src/pool/telemetry/heat.ts";
import { latestOf, nodesAt, poolChartsOf, poolTimeGridOf } from "../../src/pool/telemetry/lines.ts";
import {
  isMetric,
  METRICS,
  metricOf,
  nameInAddress,
  optionText,
  otherMetricOf,
  otherMetrics,
  valuesQuery,
} from "../../src/pool/telemetry/metrics.ts";
import type { NodeValue, PoolTelemetry } from "../../src/pool/telemetry/model.ts";

const CPU = METRICS[0] as (typeof METRICS)[number];
const RECEIVED = metricOf("received") as (typeof METRICS)[number];

function node(id: string, value: number | null): NodeValue {
  return { id, state: "idle", value, seen: null };
}

test("shares have the levels of a whole, whatever the highest is", () => {
  const scale = heatScaleOf([0.02, 0.1], "share");
  assert.ok(scale);
  assert.deepEqual(endsOf(scale), ["0%", "100%"]);
  assert.deepEqual(
    [0, 0.19, 0.2, 0.99, 1, 1.2].map((value) => levelOf(value, scale)),
    [0, 0, 1, 4, 4, 4],
  );
});

test("other values have the levels between the lowest and the highest", () => {
  const scale = heatScaleOf([3 * 1024 ** 2, 1024], "bytes a second");
  assert.ok(scale);
  assert.deepEqual(endsOf(scale), ["1 KiB/s", "3 MiB/s"]);
  assert.deepEqual([1024, 1024 ** 2, 3 * 1024 ** 2].map((value) => levelOf(value, scale)), [0, 1, 4]);
  const negative = heatScaleOf([-4, 1], "value");
  assert.deepEqual(negative && [-4, -1.5, 1].map((value) => levelOf(value, negative)), [0, 2, 4]);
  const same = heatScaleOf([7, 7], "value");
  assert.deepEqual(same && [...endsOf(same), levelOf(7, same)], ["7", "7", 0]);
  assert.equal(heatScaleOf([], "bytes a second"), null);
});

test("percentages have the levels of a whole, or go up to the highest above it", () => {
  for (const [values, ends] of [[[3, 40], ["0", "100"]], [[3, 400], ["0", "400"]]] as const) {
    const scale = heatScaleOf([...values], "value", true);
    assert.deepEqual(scale && endsOf(scale), ends);
  }
});

const FREE = { name: "system.memory.usage", attributes: { "system.memory.state": "free" }, unit: "By" };
const LOSS = { name: "custom.loss", attributes: {}, unit: "" };

test("other metrics follow the usual ones with name and unit, and the chosen one also if it isn't listed", () => {
  const fan = { name: "hw.fan.speed", attributes: {}, unit: "rpm" };
  const listed = [LOSS, FREE, { name: CPU.name, attributes: {}, unit: "1" }, fan];
  const shown = (chosen: string) => otherMetrics(listed, chosen).map(optionText);
  assert.deepEqual(shown(""), ["custom.loss", "hw.fan.speed (rpm)", "system.memory.usage · free (bytes)"]);
  assert.deepEqual(shown("custom.loss"), shown(""));
  assert.deepEqual(shown("custom.gone;a=b=c")[0], "custom.gone · b=c");
  assert.deepEqual(otherMetrics([], "cpu"), []);
});

test("a metric in an address is read back, without the rest", () => {
  for (const { name, attributes, unit } of [LOSS, FREE]) {
    const { id } = otherMetricOf({ name, attributes, unit });
    assert.deepEqual(nameInAddress(id), { name, attributes });
  }
  for (const id of ["", "cpu", "custom.", ";", "custom.loss;", "custom.loss;a", "a;b.c=d"]) assert.equal(nameInAddress(id), null);
  assert.equal(valuesQuery(LOSS), "?name=custom.loss");
});

test("shares are those of the catalog with that unit", () => {
  const unitOf = (name: string) => otherMetricOf({ name, attributes: {}, unit: "1" }).unit;
  assert.deepEqual(
    ["system.paging.utilization", "hw.fan.speed_ratio", "batchscope.gpu.pcie.generation", "custom.utilization"].map(unitOf),
    ["share", "share", "value", "value"],
  );
});

test("a node has the level and the text of its value, or none", () => {
  const { groupOf, textOf } = heatMapOf(CPU, [node("a", 0.5), node("b", null), node("c", 0)]);
  assert.deepEqual(["a", "b", "c", "d"].map(groupOf), ["heat-2", "heat-none", "heat-0", "heat-none"]);
  assert.deepEqual(["a", "b"].map(textOf), ["CPU 50%", "no CPU data"]);
});

test("a metric is asked for by its name and attributes, empty ones included", () => {
  const query = new URLSearchParams(valuesQuery(CPU));
  assert.equal(query.get("name"), "system.cpu.utilization");
  assert.equal(query.get("attributes"), "cpu.mode=;batchscope.device=;batchscope.source=");
  assert.ok(isMetric(RECEIVED, { name: "system.network.io", attributes: { "network.io.direction": "receive" } }));
  assert.ok(!isMetric(RECEIVED, { name: "system.network.io", attributes: { "network.io.direction": "transmit" } }));
  for (const attributes of [{ "cpu.mode": "idle" }, { "batchscope.source": "aggregate" }])
    assert.ok(!isMetric(CPU, { name: "system.cpu.utilization", attributes }));
});

const TELEMETRY: PoolTelemetry = {
  from: "2026-11-21T12:00:30Z",
  to: "2026-11-21T12:03:00Z",
  step: "PT1M",
  nodes: { listed: 2, reporting: 2, silent: 0, silentNodes: [] },
  value: [
    {
      name: CPU.name,
      attributes: {},
      points: [
        { time: "2026-11-21T12:00:00Z", nodes: 2, mean: 0.3, p50: 0.2, p95: 0.4, max: 0.5 },
        { time: "2026-11-21T12:01:00Z", nodes: 1, mean: 0.1, p50: 0.1, p95: 0.1, max: 0.1 },
      ],
    },
    { name: "custom.loss", attributes: {}, points: [] },
  ],
};

test("a metric with data is a chart of four statistics", () => {
  const [chart, ...others] = poolChartsOf(TELEMETRY);
  assert.deepEqual(others, []);
  assert.deepEqual(
    chart?.lines.map(({ name, values }) => [name, values[0]?.mean]),
    [["mean", 0.3], ["median", 0.2], ["95th percentile", 0.4], ["highest", 0.5]],
  );
});

test("the steps of a range cover it, and say how many nodes had data", () => {
  const late = { ...TELEMETRY, from: "2026-11-21T06:00:00Z", to: "2026-11-21T12:09:30Z" };
  assert.equal(new Date(poolTimeGridOf(late).first).toISOString(), "2026-11-21T11:59:00.000Z");
  const grid = poolTimeGridOf(TELEMETRY);
  assert.equal(new Date(grid.first).toISOString(), "2026-11-21T12:00:00.000Z");
  assert.equal(grid.steps, 3);
  assert.equal(nodesAt(TELEMETRY, grid.first), 2);
  assert.equal(nodesAt(TELEMETRY, latestOf(TELEMETRY)), 1);
});
