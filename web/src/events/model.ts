// The JSON of events and of how they come in, as far as the page shows it. Every string is from outside and only text.

export interface EventLine {
  id: string;
  time: string;
  kind: string;
  jobId: string | null;
  taskId: string | null;
  poolId: string | null;
  nodeId: string | null;
  summary: string;
}

export interface Ingestion {
  /** Null where no storage is configured to read logs from. */
  container: string | null;
  sweptAt: string | null;
  blobs: number;
  behindBlobs: number;
  behindBytes: number;
  behindSince: string | null;
  events: number;
  repeats: number;
  refused: number;
  latestEvent: string | null;
  problems: string[];
}

/** What Batch is known to log; others are shown like them. */
export const KINDS = [
  "PoolCreateEvent",
  "PoolDeleteStartEvent",
  "PoolDeleteCompleteEvent",
  "PoolResizeStartEvent",
  "PoolResizeCompleteEvent",
  "PoolAutoScaleEvent",
  "TaskStartEvent",
  "TaskCompleteEvent",
  "TaskFailEvent",
  "TaskRequeueEvent",
  "TaskScheduleFailEvent",
  "SpecialTaskEvent",
] as const;
