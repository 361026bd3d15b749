// Histories of jobs: tasks by state over time.

import { TASK_STATES, type TaskState } from "../api/model.ts";
import type { HistoryKind } from "../charts/history.ts";
import { formatExactTime } from "../format/dates.ts";
import { Swatch, TaskStateName } from "../ui/tiles/StateBar.tsx";
import { taskStateLabel } from "../ui/tiles/taskStates.ts";
import { countsOf, countText, pointDetails, pointText } from "./history.ts";
import type { JobPoint } from "./model.ts";

export const JOB_HISTORY: HistoryKind<JobPoint, TaskState> = {
  noun: "job",
  caption: "Tasks by state",
  countsOf,
  statesOf: () => TASK_STATES,
  entryOf: (state) => ({
    label: taskStateLabel(state),
    swatch: <Swatch state={state} />,
    title: state === "active" ? "active in Azure Batch" : undefined,
  }),
  details: pointDetails,
  textOf: pointText,
  columns: {
    always: [{ key: "asOf", heading: "As of", value: ({ asOf }) => asOf && formatExactTime(Date.parse(asOf)) }],
    numbers: [
      ...TASK_STATES.map((state) => ({
        key: state,
        heading: <TaskStateName state={state} />,
        capital: true,
        value: countText(state),
      })),
      { key: "total", heading: "Total", value: countText("total") },
    ],
  },
};
