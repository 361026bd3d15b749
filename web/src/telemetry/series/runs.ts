// The activity of a node from Batch's events: runs of tasks, in lanes below each other, and marks of other events.

import type { BatchEvent } from "../../events/model.ts";
import { formatExactTime } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";

/** An event with the properties that the page needs of Batch's record. */
export interface LoggedEvent extends BatchEvent {
  properties?: { executionInfo?: { startTime?: unknown; endTime?: unknown } | null } | null;
  internalRetry?: boolean;
}

export interface Run {
  job: string;
  task: string;
  /** -Infinity if it began before the loaded events; `to` is Infinity while the task runs. */
  from: number;
  to: number;
  failed: boolean;
  /** Whether Batch retried the task internally, and logged no end of this run. */
  retried: boolean;
  lane: number;
}

/** An event other than the start and the successful end of a task. */
export interface Mark {
  at: number;
  label: string;
}

export interface NodeActivity {
  runs: Run[];
  marks: Mark[];
  lanes: number;
  /** The number of runs without a lane, as too many ran at the same time. */
  hiddenRuns: number;
}

const MAX_LANES = 12;
const SKEW_MS = 2_000;
const START_KIND = "TaskStartEvent";
const END_KINDS = new Set(["TaskCompleteEvent", "TaskFailEvent"]);

/** Events may be in any order. */
export function activityOf(events: LoggedEvent[]): NodeActivity {
  const ordered = events.toSorted((one, other) => Date.parse(one.time) - Date.parse(other.time));
  const open = new Map<string, Run>();
  const ended = new Map<string, Run>();
  const runs: Run[] = [];
  for (const event of ordered) {
    const { jobId, taskId, kind } = event;
    if (jobId === null || taskId === null) continue;
    const key = JSON.stringify([jobId, taskId]);
    const running = open.get(key);
    if (kind === START_KIND) {
      const at = Date.parse(event.time);
      if (running) Object.assign(running, { to: at, retried: event.internalRetry === true });
      const run = { job: jobId, task: taskId, from: at, to: Infinity, failed: false, retried: false, lane: 0 };
      open.set(key, run);
      runs.push(run);
    } else if (END_KINDS.has(kind)) {
      const run = running ?? failedBefore(ended.get(key), event) ?? runWithoutStart(jobId, taskId, runs);
      complete(run, event);
      open.delete(key);
      ended.set(key, run);
    }
  }
  return { ...withLanes(runs), marks: ordered.filter(isMark).map(markOf) };
}

/** The run that a previous event completed: Batch logs a failed task as complete, too. */
function failedBefore(run: Run | undefined, { time }: LoggedEvent): Run | undefined {
  return run && Math.abs(Date.parse(time) - run.to) < 60_000 ? run : undefined;
}

/** A run that started before the loaded events. */
function runWithoutStart(job: string, task: string, runs: Run[]): Run {
  const run = { job, task, from: -Infinity, to: Infinity, failed: false, retried: false, lane: 0 };
  runs.push(run);
  return run;
}

/** Prefers the node's own times, which are more precise than the time of the event. */
function complete(run: Run, { kind, time, properties }: LoggedEvent): void {
  run.from = momentOf(properties?.executionInfo?.startTime) ?? run.from;
  run.to = Math.max(run.from, momentOf(properties?.executionInfo?.endTime) ?? Date.parse(time));
  run.failed ||= kind === "TaskFailEvent";
}

function momentOf(written: unknown): number | null {
  const at = typeof written === "string" ? Date.parse(written) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

/** Puts each run into the first lane that is free at its start, with a tolerance for clocks. */
function withLanes(runs: Run[]): Omit<NodeActivity, "marks"> {
  const free: number[] = [];
  let hiddenRuns = 0;
  const shown = runs
    .sort((one, other) => (one.from === other.from ? 0 : one.from - other.from))
    .filter((run) => {
      const found = free.findIndex((until) => until <= run.from + SKEW_MS);
      run.lane = found < 0 ? free.length : found;
      if (run.lane >= MAX_LANES) hiddenRuns++;
      else free[run.lane] = run.to;
      return run.lane < MAX_LANES;
    });
  return { runs: shown, lanes: Math.max(1, free.length), hiddenRuns };
}

function isMark({ kind, taskId }: LoggedEvent): boolean {
  return kind === "TaskFailEvent" || taskId === null || !(kind === START_KIND || END_KINDS.has(kind));
}

function markOf({ time, summary }: LoggedEvent): Mark {
  return { at: Date.parse(time), label: `${formatExactTime(Date.parse(time))} · ${summary}` };
}

/** "task-7 of render · failed · 21 Nov, 14:05:09 to 14:07:10 · 2 min 1 s". */
export function runText({ job, task, from, to, failed, retried }: Run, now: number): string {
  const begin = from === -Infinity ? "started before the loaded events" : formatExactTime(from);
  const until = from === -Infinity ? ", ended " : " to ";
  const when = to === Infinity ? `since ${begin}` : `${begin}${until}${formatExactTime(to)}`;
  const duration = from === -Infinity ? "" : ` · ${formatSeconds(Math.max(0, Math.min(to, now) - from) / 1000)}`;
  const outcome = to === Infinity ? "running" : failed ? "failed" : retried ? "retried internally by Batch" : "ended";
  return `${task} of ${job} · ${outcome} · ${when}${duration}`;
}
