// Charts of the node during a task's run, in the task's panel, which include the node's other tasks; what its runs used.

import { useEffect, useRef, useState } from "preact/hooks";
import { pathOfJob } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { formatExactTime } from "../format/dates.ts";
import { formatSeconds } from "../format/durations.ts";
import { formatCount } from "../format/numbers.ts";
import type { JobView } from "../routing/jobView.ts";
import { addressOfDetail } from "../routing/routes.ts";
import { useInView } from "../ui/page/useInView.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Id } from "../ui/text/Id.tsx";
import type { TimeSpan } from "./Chart.tsx";
import { EndedAttempts } from "./EndedAttempts.tsx";
import { CHART_QUERY, chartsOf, seriesSetOf } from "./series/charts.ts";
import type { TaskTelemetryAnswer, Telemetry } from "./series/model.ts";
import { TaskRuns } from "./TaskRuns.tsx";
import { TelemetryContents } from "./TelemetryContents.tsx";
import { CsvLink, TelemetrySection } from "./TelemetrySection.tsx";
import { useStep } from "./useStep.ts";

const INTERVAL_MS = 30_000;
/** For a task that has ended: its node may still send the last minutes. */
const SLOW_INTERVAL_MS = 300_000;

interface TaskTelemetryProps {
  view: JobView;
  task: string;
}

export function TaskTelemetry({ view, task }: TaskTelemetryProps) {
  const { ref, inView } = useInView();
  const [hasEnded, setHasEnded] = useState(false);
  const path = pathOfJob(view, "tasks", task, "telemetry");
  const [answer, setAnswer] = useState<TaskTelemetryAnswer | null>(null);
  const [run, setRun] = useState(0);
  const latest = useRef<TaskTelemetryAnswer | null>(null);
  const step = useStep(task, answer?.telemetry);
  const chartPath = `${path}?${new URLSearchParams({ ...CHART_QUERY, ...(step && { step }), ...(run && { run: String(run) }) })}`;
  const polled = usePolled<TaskTelemetryAnswer>({
    path: chartPath,
    intervalMs: hasEnded ? SLOW_INTERVAL_MS : INTERVAL_MS,
    enabled: inView,
  });
  useEffect(() => setAnswer(polled.value), [polled.value]);
  if (polled.fresh && polled.value && run === 0) latest.current = polled.value;
  const end = polled.value?.endTime;
  useEffect(() => setHasEnded(Boolean(end)), [end]);
  const csvPath = `${path}?${new URLSearchParams({ name: CHART_QUERY.name, format: "csv" })}`;
  return (
    <TelemetrySection
      sectionRef={ref}
      polled={polled}
      actions={polled.value?.telemetry && <CsvLink href={csvPath} id={task} />}
    >
      {(answer) => (
        <>
          {latest.current && <TaskRuns latest={latest.current} shown={run} show={setRun} />}
          <Contents answer={answer} account={view.account} isLatest={run === 0} />
        </>
      )}
    </TelemetrySection>
  );
}

interface ContentsProps {
  answer: TaskTelemetryAnswer;
  account: string;
  isLatest: boolean;
}

function Contents({ answer, account, isLatest }: ContentsProps) {
  const { telemetry, reason } = answer;
  const run = telemetry && runOf(answer, telemetry);
  const hasCharts = telemetry && chartsOf(seriesSetOf(telemetry)).length > 0;
  return (
    <>
      <Run answer={answer} account={account} isLatest={isLatest} />
      <EndedAttempts answer={answer} />
      {hasCharts && <TelemetryContents telemetry={telemetry} run={run ?? undefined} />}
      {!hasCharts && (
        <p class="nothing" data-testid="no-telemetry">
          {reason ? <ExternalText text={reason} /> : "The node sent no data that these charts show."}
        </p>
      )}
    </>
  );
}

/** The part of the run that the charts show. */
function runOf({ startTime, endTime }: TaskTelemetryAnswer, { from, to }: Telemetry): TimeSpan {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  return {
    from: Math.max(begin, Date.parse(startTime ?? from)),
    to: Math.max(begin, Math.min(end, Date.parse(endTime ?? to))),
  };
}

/** Node and time of the run, and other tasks in the data. */
function Run({ answer, account, isLatest }: ContentsProps) {
  const { poolId, nodeId, startTime, endTime, earlierRuns, runsBefore, sharing, basis } = answer;
  if (!nodeId || !startTime) return null;
  const from = Date.parse(startTime);
  const until = endTime ? `to ${formatExactTime(Date.parse(endTime))}, ` : "until now";
  return (
    <p class="run-of-task soft" data-testid="run">
      {!isLatest ? "Earlier run" : earlierRuns > 0 ? "Latest run" : "Run"} on node{" "}
      {poolId ? <Id text={nodeId} to={addressOfDetail("pools", account, poolId, { node: nodeId })} /> : <Id text={nodeId} />}
      , from {formatExactTime(from)} {until}
      {endTime && formatSeconds((Date.parse(endTime) - from) / 1000)}.{" "}
      {basis && (basis === "task" ? "The node labelled the data with this task." : "The charts show all data of the node in that time.")}{" "}
      {sharing && sharingText(sharing)} {isLatest && unknownRunsText(earlierRuns - runsBefore.length)}
    </p>
  );
}

function sharingText({ otherTasks, complete }: NonNullable<TaskTelemetryAnswer["sharing"]>): string {
  if (!otherTasks) return complete ? "No other task ran on the node in that time." : "";
  const number = `${complete ? "" : "at least "}${formatCount(otherTasks)} other ${otherTasks === 1 ? "task" : "tasks"}`;
  return `The charts include ${number} on the node.`;
}

/** Runs that Batch counted, but no event names. */
function unknownRunsText(runs: number): string {
  if (runs <= 0) return "";
  return runs === 1 ? "1 earlier run isn't shown." : `${formatCount(runs)} earlier runs aren't shown.`;
}
