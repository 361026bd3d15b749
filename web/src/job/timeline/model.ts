// The JSON of a job's timeline. Every string comes from outside and is only shown as text.

export interface Run {
  task: string;
  start: string;
  end: string | null;
  result: "success" | "failure" | null;
  slots: number;
}

export interface Bucket {
  start: string;
  end: string;
  tasks: number;
  busySlotSeconds: number;
  failed: number;
}

/** Ids are null for tasks without a node. */
export interface TimelineNode {
  poolId: string | null;
  nodeId: string | null;
  runs?: Run[];
  buckets?: Bucket[];
  busySlotSeconds: number;
}

export interface Timeline {
  asOf: string | null;
  from: string;
  to: string;
  nodes: TimelineNode[];
  otherNodes: number;
  aggregated: boolean;
}
