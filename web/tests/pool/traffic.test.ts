// The bytes that nodes sent and received, from the steps of their telemetry.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolMetric } from "../../src/pool/telemetry/model.ts";
import { addedTraffic, trafficOf, trafficText } from "../../src/pool/telemetry/traffic.ts";

function metric(direction: string, points: [nodes: number, mean: number][], more: Record<string, string> = {}): PoolMetric {
  return {
    name: "system.network.io",
    attributes: { "network.io.direction": direction, ...more },
    points: points.map(([nodes, mean]) => ({ time: "2026-11-29T12:00:00Z", nodes, mean, p50: mean, p95: mean, max: mean })),
  };
}

test("bytes are rates times nodes times the length of steps", () => {
  const value = [metric("receive", [[2, 100], [3, 10]]), metric("transmit", [[1, 1]])];
  assert.deepEqual(trafficOf({ step: "PT10M", value }), { received: (200 + 30) * 600, sent: 600, nodes: 3 });
});

test("sums of an agent's own samples aren't counted again", () => {
  const value = [metric("receive", [[1, 5]], { "batchscope.source": "agent" })];
  assert.deepEqual(trafficOf({ step: "PT1M", value }), { received: null, sent: null, nodes: 0 });
});

test("several pools add up, and unknown amounts stay unknown", () => {
  const one = { received: 1024 ** 3, sent: null, nodes: 2 };
  assert.deepEqual(addedTraffic([one, { ...one, nodes: 1 }]), { received: 2 * 1024 ** 3, sent: null, nodes: 3 });
  assert.equal(
    trafficText(addedTraffic([one, one]), "this range"),
    "Network in this range: 2 GiB received, an unknown amount sent, by up to 4 nodes that reported; not the billed traffic.",
  );
  assert.equal(
    trafficText({ received: null, sent: null, nodes: 0 }, "the last 24 hours"),
    "Network traffic wasn't measured in the last 24 hours.",
  );
});
