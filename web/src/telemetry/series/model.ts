// The JSON of what nodes measure, as far as the page shows it. Every string comes from outside and is only ever text.

/**
 * A step that begins at `time`. Of a gauge: how many values, the smallest, the largest, their sum and the last; of a
 * counter: how many readings, the slowest and the fastest growth a second, the growth, and the last growth a second.
 */
export interface Point {
  time: string;
  count: number;
  min: number;
  max: number;
  sum: number;
  last: number;
}

/** As OpenTelemetry names it, with UCUM's unit. Steps in which nothing came have no point. */
export interface Series {
  name: string;
  attributes: Record<string, string>;
  unit: string;
  kind: "gauge" | "counter";
  points: Point[];
}

/** How much is in no series, of whole blobs. */
export interface LeftOut {
  records: number;
  refused: number;
  withoutTime: number;
  outOfWindow: number;
  ofTooManyNodes: number;
  ofTooManyTasks: number;
  unreadFields: number;
  beyondLimit: number;
  late: number;
  noNumbers: number;
  /** Of measurements that aren't known, by name. */
  unknown: Record<string, number>;
}

/** Empty or null where the node's agent didn't tell it; sizes in bytes. */
export interface NodeFacts {
  cpuModel: string;
  cpuCount: number | null;
  vmSize: string;
  region: string;
  zone: string;
  bootedAt: string | null;
  disks: { name: string; size: number; model: string }[];
}

/** A blob that came and of which nothing is in a series; one that doesn't name the node names none. */
export interface Undrawn {
  blob: string;
  /** What it seems to be, null where nobody looked. */
  format: string | null;
  namesNode: boolean;
  reason: string;
}

export interface Telemetry {
  from: string;
  to: string;
  /** An ISO 8601 duration, as "PT1M". */
  step: string;
  /** Of which only hours are kept: a point there is of a whole hour at least, however long steps are. */
  hourly: { from: string; to: string }[];
  leftOut: LeftOut;
  facts: NodeFacts;
  undrawn?: Undrawn[];
  value: Series[];
}

/** What the node of a task's latest run measured from its start to its end; `reason` says why nothing is shown. */
export interface TaskTelemetry {
  asOf: string | null;
  poolId: string | null;
  nodeId: string | null;
  startTime: string | null;
  /** Null while it runs. */
  endTime: string | null;
  earlierRuns: number;
  /** Whether blobs name the task, or all that the node sent is shown. */
  basis: "task" | "node" | null;
  /** How many others ran there in a part of that time; at least, if not complete. */
  sharing: { otherTasks: number; complete: boolean } | null;
  reason: string | null;
  telemetry: Telemetry | null;
}
