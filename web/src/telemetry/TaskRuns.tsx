// The runs of a task that are known from events, the latest first. One of them has its charts below.

import { formatExactTime } from "../format/dates.ts";
import { formatSeconds } from "../format/durations.ts";
import { ShortId } from "../ui/text/Id.tsx";
import type { EarlierRun, TaskTelemetryAnswer } from "./series/model.ts";

interface TaskRunsProps {
  /** The answer for the latest run. */
  latest: TaskTelemetryAnswer;
  /** 0 is the latest run, 1 the one before it, and so on. */
  shown: number;
  show: (run: number) => void;
}

/** Nothing for a task that ran once. */
export function TaskRuns({ latest, shown, show }: TaskRunsProps) {
  const { startTime, endTime, nodeId, runsBefore } = latest;
  if (!runsBefore.length) return null;
  return (
    <div class="ended-attempts" data-testid="task-runs">
      <h5 id="title-task-runs">Runs</h5>
      <div class="scroll" tabIndex={0} role="region" aria-labelledby="title-task-runs">
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col" class="number">
                Ran
              </th>
              <th scope="col">On node</th>
              <th scope="col">Afterwards</th>
              <th scope="col">
                <span class="unseen">Charts</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {startTime && (
              <tr data-run="0">
                <th scope="row">{formatExactTime(Date.parse(startTime))}</th>
                <td class="number">{endTime ? ranText({ startTime, endTime }) : "running"}</td>
                <td>{nodeId && <ShortId text={nodeId} />}</td>
                <td>the latest run</td>
                <ChartsCell run={0} shown={shown} show={show} />
              </tr>
            )}
            {runsBefore.map((run, index) => (
              <tr key={run.startTime} data-run={index + 1}>
                <th scope="row">{formatExactTime(Date.parse(run.startTime))}</th>
                <td class="number">{ranText(run)}</td>
                <td>{run.nodeId && <ShortId text={run.nodeId} />}</td>
                <td>{run.retriedInternally ? "restarted by Batch itself, not counted as a retry" : "ran again"}</td>
                <ChartsCell run={index + 1} shown={shown} show={show} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function ranText({ startTime, endTime }: Pick<EarlierRun, "startTime" | "endTime">): string {
  const ran = Date.parse(endTime) - Date.parse(startTime);
  return ran > 0 ? formatSeconds(ran / 1000) : "–";
}

function ChartsCell({ run, shown, show }: { run: number } & Pick<TaskRunsProps, "shown" | "show">) {
  return (
    <td>
      <button type="button" class="csv" aria-pressed={run === shown} onClick={() => show(run)}>
        Charts
      </button>
    </td>
  );
}
