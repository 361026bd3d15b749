// The outcome of a task in words: what happened, how often it ran, how long it waited.

import { formatSeconds } from "../../format/durations.ts";
import { plural } from "../../format/numbers.ts";
import { capitalized } from "../../format/text.ts";
import { causeLabel } from "../tasks/cause.ts";
import type { Execution, LiveTask } from "./model.ts";

/** A state or, of completed tasks, the result: the names of swatches. */
export function stateOf({ state, executionInfo: run }: LiveTask): string {
  const result = run?.result?.toLowerCase();
  if (result === "failure") return "failed";
  return state === "completed" ? "succeeded" : state;
}

const EXITED = "FailureExitCode";

/** What ended a failed task, as a sentence; "" for others. */
export function causeText(task: LiveTask): string {
  if (stateOf(task) !== "failed") return "";
  const { exitCode = null, failureInfo } = task.executionInfo ?? {};
  const { category = null, code = null } = failureInfo ?? {};
  const exit = task.exitCodeText ?? "";
  if (exit && (!code || code === EXITED)) return capitalized(exit);
  const cause = causeLabel({ category, code, exitCode });
  return exit ? `${cause}; ${exit}` : cause;
}

/** What Batch says of a failure, with its details; nothing where it only says that the command failed. */
export function failureLines({ failureInfo, containerInfo }: Execution): string[] {
  if (failureInfo?.code === EXITED) return [];
  const details = failureInfo?.details ?? [];
  const lines = [failureInfo?.message, ...details.map(({ name, value }) => name && `${name}: ${value ?? ""}`), containerInfo?.error];
  return lines.filter((line): line is string => Boolean(line));
}

/** "Retried 2 of at most 3 times, requeued once"; "" for a task that ran at most once. */
export function attemptsText({ executionInfo: run, constraints }: LiveTask): string {
  const most = constraints?.maxTaskRetryCount ?? 0;
  const limit = most < 0 ? " of any number of times" : most ? ` of at most ${plural(most, "time")}` : "";
  const parts = [
    run?.retryCount && `retried ${limit ? `${run.retryCount}${limit}` : plural(run.retryCount, "time")}`,
    run?.requeueCount && `requeued ${plural(run.requeueCount, "time")}`,
  ];
  return capitalized(parts.filter(Boolean).join(", "));
}

/** ", after 3 min of waiting", for its only run; "" if it ran before, or its times contradict each other. */
export function waitedText({ creationTime, executionInfo: run }: LiveTask): string {
  if (!creationTime || !run?.startTime || run.retryCount || run.requeueCount) return "";
  const waited = Date.parse(run.startTime) - Date.parse(creationTime);
  return waited >= 0 ? `, after ${formatSeconds(waited / 1000)} of waiting` : "";
}
