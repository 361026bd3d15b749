// Tasks by state: as the parts of a bar, and as numbers.

import { TASK_STATES, type TaskCounts, type TaskState } from "../../api/model.ts";
import { formatCount } from "../../format/numbers.ts";
import { taskStateLabel } from "./taskStates.ts";

/** Hidden from screen readers, as text nearby has the numbers. */
export function StateBar({ counts }: { counts: TaskCounts | null }) {
  return (
    <div class="bar" aria-hidden="true">
      {TASK_STATES.map((state) => (
        <span
          key={state}
          class="part"
          data-state={state}
          style={{ flexGrow: String(counts?.[state] ?? 0) }}
          hidden={!counts?.[state]}
        />
      ))}
    </div>
  );
}

/** The progress of a first read; `expected` is null while it reads the tasks that changed since it began. */
export function ReadBar({ tasks, expected }: { tasks: number; expected: number | null }) {
  if (expected === null)
    return (
      <label class="read">
        <progress />
        <small>{formatCount(tasks)} changed tasks read</small>
      </label>
    );
  return (
    <label class="read">
      <progress value={tasks} max={Math.max(tasks, expected, 1)} />
      <small>
        {formatCount(tasks)} of about {formatCount(expected)} read
      </small>
    </label>
  );
}

export function Swatch({ state }: { state: TaskState }) {
  return <span class="swatch" data-state={state} aria-hidden="true" />;
}

/** A task state by its name on the page; `long` adds Batch's name if it differs. */
export function TaskStateName({ state, long = false }: { state: string; long?: boolean }) {
  const label = taskStateLabel(state);
  if (label === state) return <>{state}</>;
  return (
    <span title={`${state} in Azure Batch`}>
      {label}
      {long && <span class="batch-name"> ({state})</span>}
    </span>
  );
}

/** A number; zero is faint. */
export function Figure({ value }: { value: number | undefined }) {
  if (value === undefined) return <span class="zero">–</span>;
  return value ? formatCount(value) : <span class="zero">0</span>;
}
