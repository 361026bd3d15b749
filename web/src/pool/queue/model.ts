// The queue of a pool, in the API's JSON. Every string comes from outside and is only shown as text.

/** A job in the queue; null is unknown. */
export interface QueuedJob {
  id: string;
  priority: number;
  creationTime: string;
  /** Counts from 1; null where none of its tasks can start. */
  rank: number | null;
  waitingTasks: number;
  /** Of all waiting tasks. */
  waitingSlots: number;
  /** Waiting tasks that would take free slots now. */
  readyTasks: number | null;
  runningTasks: number;
  /** Of the slots that lower ranks leave, from 0 to 1; 0 at its maxParallelTasks: it only keeps those that it has. */
  share: number | null;
  title: string | null;
  expectedStart: string | null;
  /** Why there is no expected start. */
  reason: string | null;
}

/** `count` jobs wait in all. */
export interface Queue {
  value: QueuedJob[];
  count: number;
  asOf: string | null;
  /** Null is unknown. */
  jobDefaultOrder: "none" | "creationtime" | null;
  freeSlots: number | null;
  tasksEndedPerMinute: number | null;
  waitingTasks: number;
  moreJobs: number;
  unknown: string[];
}
