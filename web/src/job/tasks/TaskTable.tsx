// A page of tasks; a column's head orders all tasks by it, a task's id opens the task.

import { exactMoment, moment } from "../../format/dates.ts";
import { seconds } from "../../format/durations.ts";
import { visible } from "../../format/text.ts";
import { addressOfJobView, type JobView } from "../../routing/jobView.ts";
import { Link } from "../../routing/Link.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { TaskStateName } from "../../ui/tiles/StateBar.tsx";
import { termsOf, wordsOf } from "./cause.ts";
import type { Task } from "./model.ts";

interface Column {
  title: string;
  /** What the server calls the order, where it has one. */
  order?: string;
  kind?: "number" | "began";
}

const COLUMNS: Column[] = [
  { title: "Task", order: "id" },
  { title: "State" },
  { title: "Cause" },
  { title: "Node" },
  { title: "Waited", order: "waitTime", kind: "number" },
  { title: "Started", order: "startTime", kind: "began" },
  { title: "Ran", order: "runTime", kind: "number" },
  { title: "Retries", kind: "number" },
];

interface TableProps {
  tasks: Task[];
  view: JobView;
  open: (task: string) => void;
}

export function TaskTable({ tasks, view, open }: TableProps) {
  return (
    <table class="tasks" role="table" data-testid="tasks">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map((column) => (
            <Head key={column.title} column={column} view={view} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {tasks.map((task) => (
          <TaskRow key={task.id} task={task} open={open} />
        ))}
      </tbody>
    </table>
  );
}

/** Ids begin with the first; all else with the greatest, which is what one looks for. */
function Head({ column: { title, order, kind }, view }: { column: Column; view: JobView }) {
  const [by, way] = (view.tasks.orderby || "id").split(" ");
  if (!order) {
    return (
      <th role="columnheader" scope="col" class={kind}>
        {title}
      </th>
    );
  }
  const current = by === order;
  const down = way === "desc";
  const turned = down ? order : `${order} desc`;
  const next = current ? turned : order === "id" ? "" : `${order} desc`;
  return (
    <th
      role="columnheader"
      scope="col"
      class={kind ? `${kind} orders` : "orders"}
      aria-sort={current ? (down ? "descending" : "ascending") : "none"}
    >
      <Link to={addressOfJobView({ ...view, tasks: { ...view.tasks, orderby: next } })} mode="replace">
        {title}
        <span class="arrow" aria-hidden="true">
          {current ? (down ? "↓" : "↑") : "↕"}
        </span>
      </Link>
    </th>
  );
}

function TaskRow({ task, open }: { task: Task; open: (task: string) => void }) {
  const state = task.result === "success" ? "succeeded" : task.result === "failure" ? "failed" : task.state;
  const failed = task.result === "failure";
  const cause = { category: task.failureCategory, code: task.failureCode, exitCode: task.exitCode };
  return (
    <tr role="row" data-task={task.id}>
      <th role="rowheader" scope="row" class="task">
        <button type="button" onClick={() => open(task.id)}>
          <ExternalText text={task.id} />
        </button>
      </th>
      <td role="cell" class="what">
        <span class="swatch" data-state={state} aria-hidden="true" /> <TaskStateName state={state} />
      </td>
      <td role="cell" class="why" title={failed ? visible(termsOf(cause)) : ""}>
        {failed ? wordsOf(cause) : task.exitCode !== null && <span class="soft">exit code {task.exitCode}</span>}
      </td>
      <td role="cell" class="on" title={visible(task.nodeId ?? "")}>
        {task.nodeId && <ExternalText text={task.nodeId} />}
      </td>
      <Cell name="waited" value={waited(task)} />
      <td role="cell" class="began">
        {task.startTime && (
          <time dateTime={task.startTime} title={exactMoment(Date.parse(task.startTime))}>
            {moment(Date.parse(task.startTime))}
          </time>
        )}
      </td>
      <Cell name="ran" value={between(task.startTime, task.endTime)} />
      <Cell name="retries" value={task.retryCount ? String(task.retryCount) : ""} />
    </tr>
  );
}

function Cell({ name, value }: { name: string; value: string }) {
  return (
    <td role="cell" class="number" data-empty={!value}>
      {value && <span class="label">{name} </span>}
      {value || <span class="zero">–</span>}
    </td>
  );
}

/**
 * Of a task that was retried or requeued, nobody knows since when it waited for its latest run. Batch counts no requeue
 * where a node was preempted or lost: what is told then includes the earlier run.
 */
function waited(task: Task): string {
  return task.retryCount || task.requeueCount ? "" : between(task.creationTime, task.startTime);
}

function between(from: string | null, to: string | null): string {
  if (!from || !to) return "";
  return seconds(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000);
}
