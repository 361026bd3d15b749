// When tasks ran on a node, as Batch logged it: runs in lanes below each other, and what else befell the node.

import type { BatchEvent } from "../../events/model.ts";
import { exactMoment } from "../../format/dates.ts";
import { seconds } from "../../format/durations.ts";

/** An event with what the page needs of what Batch wrote. */
export interface LoggedEvent extends BatchEvent {
  properties?: { executionInfo?: { startTime?: unknown; endTime?: unknown } | null } | null;
  internalRetry?: boolean;
}

export interface Run {
  job: string;
  task: string;
  /** -Infinity where it began before what was read of the log, Infinity while it goes on. */
  from: number;
  to: number;
  failed: boolean;
  /** Batch started the task once more by its own choice, and logged no end of this run. */
  retried: boolean;
  lane: number;
}

/** Something that happened and isn't the beginning or the end of a task that went well. */
export interface Mark {
  at: number;
  words: string;
}

export interface Past {
  runs: Run[];
  marks: Mark[];
  lanes: number;
  /** Runs at the same time as many others, for which there is no lane. */
  unshown: number;
}

const MOST_LANES = 12;
const SKEW_MS = 2_000;
const BEGINS = "TaskStartEvent";
const ENDS = new Set(["TaskCompleteEvent", "TaskFailEvent"]);

/** Of events in any order. */
export function pastOf(events: LoggedEvent[]): Past {
  const ordered = events.toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
  const open = new Map<string, Run>();
  const ended = new Map<string, Run>();
  const runs: Run[] = [];
  for (const event of ordered) {
    const { jobId, taskId, kind } = event;
    if (jobId === null || taskId === null) continue;
    const key = JSON.stringify([jobId, taskId]);
    const begun = open.get(key);
    if (kind === BEGINS) {
      const at = Date.parse(event.time);
      if (begun) Object.assign(begun, { to: at, retried: event.internalRetry === true });
      const run = { job: jobId, task: taskId, from: at, to: Infinity, failed: false, retried: false, lane: 0 };
      open.set(key, run);
      runs.push(run);
    } else if (ENDS.has(kind)) {
      const run = begun ?? again(ended.get(key), event) ?? unseen(jobId, taskId, runs);
      end(run, event);
      open.delete(key);
      ended.set(key, run);
    }
  }
  return { ...inLanes(runs), marks: ordered.filter(isMark).map(markOf) };
}

/** A task that failed is logged as complete, too. */
function again(run: Run | undefined, { time }: LoggedEvent): Run | undefined {
  return run && Math.abs(Date.parse(time) - run.to) < 60_000 ? run : undefined;
}

/** One whose beginning is before all that was read of the log. */
function unseen(job: string, task: string, runs: Run[]): Run {
  const run = { job, task, from: -Infinity, to: Infinity, failed: false, retried: false, lane: 0 };
  runs.push(run);
  return run;
}

/** The node's own times are finer than when its events were logged. */
function end(run: Run, { kind, time, properties }: LoggedEvent): void {
  run.from = momentOf(properties?.executionInfo?.startTime) ?? run.from;
  run.to = Math.max(run.from, momentOf(properties?.executionInfo?.endTime) ?? Date.parse(time));
  run.failed ||= kind === "TaskFailEvent";
}

function momentOf(written: unknown): number | null {
  const at = typeof written === "string" ? Date.parse(written) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** Each run in the first lane that is free when it starts, give or take what clocks differ by. */
function inLanes(runs: Run[]): Omit<Past, "marks"> {
  const free: number[] = [];
  let unshown = 0;
  const shown = runs
    .sort((one, other) => (one.from === other.from ? 0 : one.from - other.from))
    .filter((run) => {
      const found = free.findIndex((until) => until <= run.from + SKEW_MS);
      run.lane = found < 0 ? free.length : found;
      if (run.lane >= MOST_LANES) unshown++;
      else free[run.lane] = run.to;
      return run.lane < MOST_LANES;
    });
  return { runs: shown, lanes: Math.max(1, free.length), unshown };
}

function isMark({ kind, taskId }: LoggedEvent): boolean {
  return kind === "TaskFailEvent" || taskId === null || !(kind === BEGINS || ENDS.has(kind));
}

function markOf({ time, summary }: LoggedEvent): Mark {
  return { at: Date.parse(time), words: `${exactMoment(Date.parse(time))} · ${summary}` };
}

/** "task-7 of render · failed · 21 Nov, 14:05:09 to 14:07:10 · 2 min 1 s". */
export function inWords({ job, task, from, to, failed, retried }: Run, now: number): string {
  const begin = from === -Infinity ? "start before the loaded events" : exactMoment(from);
  const when = to === Infinity ? `since ${begin}` : `${begin} to ${exactMoment(to)}`;
  const long = from === -Infinity ? "" : ` · ${seconds(Math.max(0, Math.min(to, now) - from) / 1000)}`;
  const how = to === Infinity ? "running" : failed ? "failed" : retried ? "retried internally by Batch" : "ended";
  return `${task} of ${job} · ${how} · ${when}${long}`;
}
