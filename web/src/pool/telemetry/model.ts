// The JSON of telemetry of pools: the properties that the page shows.

export interface NodeValue {
  id: string;
  state: string | null;
  /** Null if the node is silent. */
  value: number | null;
  /** The last minute with any data; null before the first. */
  seen: string | null;
}

/** A metric that nodes send, with its unit (UCUM). */
export interface MetricName {
  name: string;
  attributes: Record<string, string>;
  unit: string;
}

/** The values of a metric by node; `name` is null where no node has any. */
export interface NodeValues {
  name: string | null;
  unit: string;
  at: string;
  value: NodeValue[];
}

/** Statistics over the values of `nodes` nodes in a step that begins at `time`; percentiles are values of nodes. */
export interface StatisticsPoint {
  time: string;
  nodes: number;
  mean: number;
  p50: number;
  p95: number;
  max: number;
}

export interface PoolMetric {
  name: string;
  attributes: Record<string, string>;
  points: StatisticsPoint[];
}

export interface PoolTelemetry {
  from: string;
  to: string;
  /** An ISO 8601 duration, as "PT1M". */
  step: string;
  nodes: { listed: number; reporting: number; silent: number; silentNodes: { id: string; seen: string | null }[] };
  value: PoolMetric[];
}
