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

/** Known kinds of events, those of nodes and Batchscope's own last; unknown ones are shown in the same way. */
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
  "node.oom_kill",
  "node.disk_full",
  "node.gpu_xid",
  "node.gpu_ecc",
  "node.reboot",
  "node.clock_jump",
  "node.clock_slew",
  "node.start_task_hang",
  "node.spot_preemption",
  "node.maintenance",
  "pool.settings_change",
  "condition.firing",
  "condition.resolved",
] as const;

const HARMFUL_NODE_EVENTS: ReadonlySet<string> = new Set([
  "node.oom_kill",
  "node.disk_full",
  "node.gpu_xid",
  "node.gpu_ecc",
  "node.start_task_hang",
]);

/** Failures, and events of nodes that harm tasks, are "bad". */
export function toneOf(kind: string): "bad" | "plain" {
  return kind.includes("Fail") || HARMFUL_NODE_EVENTS.has(kind) ? "bad" : "plain";
}
