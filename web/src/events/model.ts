// The JSON of events and their ingestion: the properties that the page shows. Every string is only shown as text.

export interface BatchEvent {
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
  /** Null if no storage of logs is configured. */
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

/** Known kinds of events; unknown ones are shown in the same way. */
export const EVENT_KINDS = [
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
