// The bytes that a pool's nodes sent and received in a range, from their counters; not the billed traffic.

import { parseDuration } from "../../format/durations.ts";
import { plural } from "../../format/numbers.ts";
import { valueText } from "../../telemetry/series/units.ts";
import { isMetric, metricOf } from "./metrics.ts";
import type { PoolTelemetry } from "./model.ts";

interface Traffic {
  /** Bytes; null where no node reported any. */
  received: number | null;
  sent: number | null;
  /** The most nodes that reported in a step. */
  nodes: number;
}

/** Sums rates over nodes and steps; the time in which a node didn't report isn't in them. */
export function trafficOf({ step, value }: Pick<PoolTelemetry, "step" | "value">): Traffic {
  const seconds = parseDuration(step) / 1000;
  const [received, sent] = ["received", "sent"].map((id) => {
    const metric = metricOf(id);
    return metric && value.find((each) => isMetric(metric, each))?.points;
  });
  const bytes = (points: typeof received) =>
    points?.length ? points.reduce((sum, { mean, nodes }) => sum + mean * nodes * seconds, 0) : null;
  const nodes = [...(received ?? []), ...(sent ?? [])].reduce((most, point) => Math.max(most, point.nodes), 0);
  return { received: bytes(received), sent: bytes(sent), nodes };
}

/** The traffic of several pools. */
export function addedTraffic(pools: readonly Traffic[]): Traffic {
  const sumOf = (values: (number | null)[]) => {
    const known = values.filter((each) => each !== null);
    return known.length ? known.reduce((sum, each) => sum + each, 0) : null;
  };
  return {
    received: sumOf(pools.map(({ received }) => received)),
    sent: sumOf(pools.map(({ sent }) => sent)),
    nodes: pools.reduce((sum, { nodes }) => sum + nodes, 0),
  };
}

/** "Network in this range: 12 GiB received, 4 GiB sent, by up to 12 nodes; not the billed traffic." */
export function trafficText({ received, sent, nodes }: Traffic, span: string): string {
  if (received === null && sent === null) return `Network traffic wasn't measured in ${span}.`;
  const [inText, outText] = [received, sent].map((bytes) => (bytes === null ? "an unknown amount" : valueText(bytes, "bytes")));
  return `Network in ${span}: ${inText} received, ${outText} sent, by up to ${plural(nodes, "node")} that reported; not the billed traffic.`;
}
