// A page of tasks. A column's header sorts all tasks by it, a task's id opens its panel.

import { formatExactTime, formatTime } from "../../format/dates.ts";
import { formatSeconds } from "../../format/durations.ts";
import { visible } from "../../format/text.ts";
import { addressOfJobView, type JobView } from "../../routing/jobView.ts";
import { ColumnHeader, type ColumnOrder } from "../../ui/list/ColumnHeader.tsx";
import { Id } from "../../ui/text/Id.tsx";
import { TaskStateName } from "../../ui/tiles/StateBar.tsx";
import { batchTerms, causeLabel } from "./cause.ts";
import type { Task } from "./model.ts";

interface Column {
  title: string;
  /** The API's name of the order, if the column can be sorted. */
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
          {COLUMNS.map(({ title, order, kind }) => (
            <ColumnHeader key={title} kind={kind} order={order ? columnOrder(order, view) : undefined}>
              {title}
            </ColumnHeader>
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

/** Ids sort in ascending order first, numbers and times in descending order; the next click reverses the order. */
function columnOrder(order: string, view: JobView): ColumnOrder {
  const [by, direction] = (view.tasks.orderby || "id").split(" ");
  const isCurrent = by === order;
  const isDescending = direction === "desc";
  const reversed = isDescending ? order : `${order} desc`;
  const orderby = isCurrent ? reversed : order === "id" ? "" : `${order} desc`;
  return {
    direction: isCurrent ? (isDescending ? "descending" : "ascending") : null,
    to: addressOfJobView({ ...view, tasks: { ...view.tasks, orderby } }),
  };
}

function TaskRow({ task, open }: { task: Task; open: (task: string) => void }) {
  const state = task.result === "success" ? "succeeded" : task.result === "failure" ? "failed" : task.state;
  const failed = task.result === "failure";
  const cause = { category: task.failureCategory, code: task.failureCode, exitCode: task.exitCode };
  return (
    <tr role="row" data-task={task.id}>
      <th role="rowheader" scope="row" class="task">
        <Id text={task.id} open={() => open(task.id)} />
      </th>
      <td role="cell" class="state-cell">
        <span class="swatch" data-state={state} aria-hidden="true" /> <TaskStateName state={state} />
      </td>
      <td role="cell" class="why" title={failed ? visible(batchTerms(cause)) : ""}>
        {failed ? causeLabel(cause) : task.exitCode !== null && <span class="soft">exit code {task.exitCode}</span>}
      </td>
      <td role="cell" class="on" title={visible(task.nodeId ?? "")}>
        {task.nodeId && <Id text={task.nodeId} />}
      </td>
      <Cell name="waited" value={waitTime(task)} />
      <td role="cell" class="began">
        {task.startTime && (
          <time dateTime={task.startTime} title={formatExactTime(Date.parse(task.startTime))}>
            {formatTime(Date.parse(task.startTime))}
          </time>
        )}
      </td>
      <Cell name="ran" value={elapsed(task.startTime, task.endTime)} />
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
 * The wait before the latest run; "" if the task was retried or requeued, as its start is unknown then. Batch counts no
 * requeue when a node is preempted or lost, so the wait may include an earlier run.
 */
function waitTime(task: Task): string {
  return task.retryCount || task.requeueCount ? "" : elapsed(task.creationTime, task.startTime);
}

function elapsed(from: string | null, to: string | null): string {
  if (!from || !to) return "";
  return formatSeconds(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000);
}
