// What its node measured while a task ran, in the task's panel. The node's measures are those of all that it runs.

import { useEffect, useState } from "preact/hooks";
import { pathOfJob } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { exactMoment } from "../format/dates.ts";
import { seconds } from "../format/durations.ts";
import { count } from "../format/numbers.ts";
import type { JobView } from "../routing/jobView.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail } from "../routing/routes.ts";
import { useInView } from "../ui/page/useInView.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Span } from "./Chart.tsx";
import { Csv, Frame } from "./Frame.tsx";
import { Measured } from "./Measured.tsx";
import { ASKED, chartsOf, measuresOf } from "./series/charts.ts";
import type { Telemetry, TaskTelemetry as Told } from "./series/model.ts";
import { useStep } from "./useStep.ts";

const INTERVAL_MS = 30_000;
/** Of a task that is over: its node may send the last minutes of it still. */
const SLOW_INTERVAL_MS = 300_000;

interface TaskTelemetryProps {
  view: JobView;
  task: string;
}

export function TaskTelemetry({ view, task }: TaskTelemetryProps) {
  const { ref, inView } = useInView();
  const [over, setOver] = useState(false);
  const path = pathOfJob(view, "tasks", task, "telemetry");
  const [told, tell] = useState<Told | null>(null);
  const step = useStep(task, told?.telemetry);
  const asked = `${path}?${new URLSearchParams({ ...ASKED, ...(step && { step }) })}`;
  const polled = usePolled<Told>({ path: asked, intervalMs: over ? SLOW_INTERVAL_MS : INTERVAL_MS, enabled: inView });
  useEffect(() => tell(polled.value), [polled.value]);
  const end = polled.value?.endTime;
  useEffect(() => setOver(Boolean(end)), [end]);
  const table = `${path}?${new URLSearchParams({ name: ASKED.name, format: "csv" })}`;
  return (
    <Frame part={ref} polled={polled} actions={polled.value?.telemetry && <Csv href={table} of={task} />}>
      {(told) => <Contents told={told} account={view.account} />}
    </Frame>
  );
}

function Contents({ told, account }: { told: Told; account: string }) {
  const { telemetry, reason } = told;
  const run = telemetry && runOf(told, telemetry);
  const some = telemetry && chartsOf(measuresOf(telemetry)).length > 0;
  return (
    <>
      <Run told={told} account={account} />
      {some && <Measured telemetry={telemetry} run={run ?? undefined} />}
      {!some && (
        <p class="nothing" data-testid="no-telemetry">
          {reason ? <ExternalText text={reason} /> : "The node sent no data that these charts show."}
        </p>
      )}
    </>
  );
}

/** As far as it is shown. */
function runOf({ startTime, endTime }: Told, { from, to }: Telemetry): Span {
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  return {
    from: Math.max(begin, Date.parse(startTime ?? from)),
    to: Math.max(begin, Math.min(end, Date.parse(endTime ?? to))),
  };
}

/** Where and when it ran, and how far the measures are its own. */
function Run({ told, account }: { told: Told; account: string }) {
  const { poolId, nodeId, startTime, endTime, earlierRuns, sharing, basis } = told;
  if (!nodeId || !startTime) return null;
  const from = Date.parse(startTime);
  const until = endTime ? `to ${exactMoment(Date.parse(endTime))}, ` : "until now";
  return (
    <p class="run-of-task soft" data-testid="run">
      {earlierRuns > 0 ? "Latest run" : "Run"} on node{" "}
      {poolId ? (
        <Link to={addressOfDetail("pools", account, poolId, { node: nodeId })}>
          <ExternalText text={nodeId} />
        </Link>
      ) : (
        <ExternalText text={nodeId} />
      )}
      , from {exactMoment(from)} {until}
      {endTime && seconds((Date.parse(endTime) - from) / 1000)}.{" "}
      {basis && (basis === "task" ? "The data names this task." : "The charts show all data of the node in that time.")}{" "}
      {sharing && shared(sharing)} {earlierRuns > 0 && earlier(earlierRuns)}
    </p>
  );
}

function shared({ otherTasks, complete }: NonNullable<Told["sharing"]>): string {
  if (!otherTasks) return complete ? "No other task ran on the node in that time." : "";
  const number = `${complete ? "" : "at least "}${count(otherTasks)} other ${otherTasks === 1 ? "task" : "tasks"}`;
  return `The charts include ${number} on the node.`;
}

function earlier(runs: number): string {
  return runs === 1 ? "1 earlier run isn't shown." : `${count(runs)} earlier runs aren't shown.`;
}
