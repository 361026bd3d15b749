// The JSON of a job's timeline. Every string comes from outside and is only ever text.

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

/** Without an id where tasks tell of no node. */
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
