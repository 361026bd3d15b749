// The JSON of a task in a list. Every string comes from outside and is only shown as text.

export interface Task {
  id: string;
  state: string;
  result: "success" | "failure" | null;
  creationTime: string | null;
  startTime: string | null;
  endTime: string | null;
  exitCode: number | null;
  failureCategory: string | null;
  failureCode: string | null;
  retryCount: number;
  requeueCount: number;
  poolId: string | null;
  nodeId: string | null;
}
