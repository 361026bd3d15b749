// The history of a job: its tasks by state over time.

import { useMemo } from "preact/hooks";
import { TASK_STATES, type TaskCounts, type TaskState } from "../api/model.ts";
import { pathOfJob } from "../api/paths.ts";
import { HistoryPanel } from "../charts/HistoryPanel.tsx";
import { HistorySection } from "../charts/HistorySection.tsx";
import type { Columns } from "../charts/HistoryTable.tsx";
import type { Series } from "../charts/stack.ts";
import { formatExactTime, formatTime } from "../format/dates.ts";
import { formatCount } from "../format/numbers.ts";
import { addressOfJobView, type JobView } from "../routing/jobView.ts";
import type { Range } from "../time/ranges.ts";
import { Swatch, TaskStateName } from "../ui/tiles/StateBar.tsx";
import { taskStateLabel } from "../ui/tiles/taskStates.ts";
import type { History, HistoryPoint } from "./model.ts";

interface JobHistoryProps {
  view: JobView;
  /** Null until the job's age is known, which decides the default. */
  range: Range | null;
  created: number;
}

export function JobHistory({ view, range, created }: JobHistoryProps) {
  return (
    <HistorySection<History>
      path={pathOfJob(view, "history")}
      id={view.job}
      range={range}
      addressOf={(each) => addressOfJobView({ ...view, range: each })}
    >
      {(history) => <Contents history={history} created={created} />}
    </HistorySection>
  );
}

function Contents({ history, created }: { history: History; created: number }) {
  const series = useMemo(() => seriesOf(history), [history]);
  return (
    <HistoryPanel
      noun="job"
      created={created}
      series={series}
      points={history.value}
      states={TASK_STATES}
      entryOf={(state) => ({
        label: taskStateLabel(state),
        swatch: <Swatch state={state} />,
        title: state === "active" ? "active in Azure Batch" : undefined,
      })}
      details={pointDetails}
      textOf={pointText}
      caption="Tasks by state"
      columns={COLUMNS}
    />
  );
}

const COLUMNS: Columns<HistoryPoint> = {
  always: [{ key: "asOf", heading: "As of", value: ({ asOf }) => asOf && formatExactTime(Date.parse(asOf)) }],
  numbers: [
    ...TASK_STATES.map((state) => ({
      key: state,
      heading: <TaskStateName state={state} />,
      capital: true,
      value: countOf(state),
    })),
    { key: "total", heading: "Total", value: countOf("total") },
  ],
};

function countOf(name: keyof TaskCounts): (point: HistoryPoint) => string {
  return ({ taskCounts }) => (taskCounts ? formatCount(taskCounts[name]) : "");
}

function seriesOf(history: History): Series<TaskState> {
  return { ...history, value: history.value.map(({ taskCounts, ...point }) => ({ ...point, counts: taskCounts })) };
}

function pointDetails({ time, taskCounts, exact }: HistoryPoint): string {
  const doubt = taskCounts ? exact !== true && ", not confirmed as exact" : ", not polled";
  return formatTime(Date.parse(time)) + (doubt || "");
}

function pointText({ time, taskCounts }: HistoryPoint): string {
  const at = formatTime(Date.parse(time));
  if (!taskCounts) return `${at}: not polled`;
  const states = TASK_STATES.map((state) => `${formatCount(taskCounts[state])} ${taskStateLabel(state)}`);
  return `${at}: ${states.join(", ")}`;
}
