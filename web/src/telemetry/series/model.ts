// The JSON of node telemetry: the properties that the page shows. Every string is only shown as text.

/**
 * A step that begins at `time`. Of a gauge: number, minimum, maximum and sum of its values, and the last one. Of a
 * counter: number of readings, slowest and fastest growth per second, growth, and last growth per second.
 */
export interface Point {
  time: string;
  count: number;
  min: number;
  max: number;
  sum: number;
  last: number;
}

/** With OpenTelemetry's name and UCUM's unit. Steps without data have no point. */
export interface Series {
  name: string;
  attributes: Record<string, string>;
  unit: string;
  kind: "gauge" | "counter";
  points: Point[];
}

/** Numbers of records and values in no series, for whole blobs. */
export interface DroppedCounts {
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
  /** Records of unknown measurements without numbers, by name. */
  unknown: Record<string, number>;
}

/** Empty or null if the node's agent didn't report it; sizes in bytes. */
export interface NodeFacts {
  cpuModel: string;
  cpuCount: number | null;
  vmSize: string;
  region: string;
  zone: string;
  bootedAt: string | null;
  disks: { name: string; size: number; model: string }[];
}

/** A blob without any data in series; it names this node or no node. */
interface UnchartedBlob {
  blob: string;
  /** The detected format; null if it wasn't examined. */
  format: string | null;
  namesNode: boolean;
  reason: string;
}

export interface Telemetry {
  from: string;
  to: string;
  /** An ISO 8601 duration, as "PT1M". */
  step: string;
  /** Times for which only hours are stored: their points span at least an hour, even with shorter steps. */
  hourly: { from: string; to: string }[];
  leftOut: DroppedCounts;
  facts: NodeFacts;
  undrawn?: UnchartedBlob[];
  value: Series[];
}

/** What an attempt used by the node agent's record at its end; null where it has no figure. Times in seconds, sizes in bytes. */
export interface EndedAttempt {
  startTime: string;
  endTime: string;
  duration: number | null;
  /** How late the end may have been seen. */
  durationUncertainty: number | null;
  cpuSeconds: number | null;
  /** The most that `cpuSeconds` lacks. */
  cpuMissed: number | null;
  cpuSource: string | null;
  memoryPeak: number | null;
  memorySource: string | null;
  readBytes: number | null;
  writtenBytes: number | null;
  threads: number | null;
  gpuMemoryPeak: number | null;
  /** The mean number of GPUs in use. */
  gpuUsage: number | null;
}

/** A run before the latest; its end equals its start if only the start was logged. */
export interface EarlierRun {
  poolId: string | null;
  nodeId: string | null;
  startTime: string;
  endTime: string;
  /** Whether Batch restarted the task afterwards without counting a retry. */
  retriedInternally: boolean;
}

/** The node's telemetry during a task's latest run, or the requested one; `reason` says why there is none. */
export interface TaskTelemetryAnswer {
  asOf: string | null;
  poolId: string | null;
  nodeId: string | null;
  startTime: string | null;
  /** Null while the task runs. */
  endTime: string | null;
  /** The number of runs before this one. */
  earlierRuns: number;
  /** The runs before the latest that events name, the latest of them first. */
  runsBefore: EarlierRun[];
  /** Whether the data names the task, or is all data of the node. */
  basis: "task" | "node" | null;
  /** The latest first. */
  endedAttempts: EndedAttempt[];
  /** The number of other tasks on the node in that time; a lower bound if not complete. */
  sharing: { otherTasks: number; complete: boolean } | null;
  reason: string | null;
  telemetry: Telemetry | null;
}
