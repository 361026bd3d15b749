// One job: what it is and how it does, its history, what failed, its tasks and the nodes they ran on.

import { useContext } from "preact/hooks";
import { Crumbs, usePageOf } from "../Crumbs";
import { LatestEvents } from "../events/LatestEvents";
import { Going } from "../Link";
import type { Job } from "../model";
import { NotThere, Top } from "../OnePage";
import { POLL_MS } from "../poller";
import { Shell } from "../Shell";
import { FailureGroups } from "./FailureGroups";
import { HistorySection } from "./HistorySection";
import { InsightTiles } from "./InsightTiles";
import { JobTop } from "./JobTop";
import type { History } from "./model";
import { Why } from "./Why";
import { useWatched } from "./watching";
import { TaskPanel } from "./TaskPanel";
import { TaskSection } from "./TaskSection";
import { TimelineSection } from "./TimelineSection";
import { addressOfView, beginOf, pathOf, rangeFor, type JobView } from "./view";

interface JobPageProps {
  view: JobView;
  /** The list as it was left. */
  back: string;
}

export function JobPage({ view, back }: JobPageProps) {
  const watched = useWatched<Job>({ path: pathOf(view), every: POLL_MS });
  const go = useContext(Going);
  const open = (task: string) => go(addressOfView({ ...view, task }));
  const close = () => go(addressOfView({ ...view, task: "" }), "back");
  usePageOf(view.job, back);
  const { value: job, failure } = watched;
  const gone = failure?.status === 404 && !job;
  const created = job?.creationTime ? Date.parse(job.creationTime) : -Infinity;
  const known = job !== null || failure !== null;
  const range = view.range ?? (known ? rangeFor(job) : null);
  return (
    <Shell tab="jobs" account={view.account} back={back} reading={watched} tells retry={watched.retry}>
      <Crumbs tab="jobs" account={view.account} id={view.job} name="job" />
      {gone ? (
        <>
          <NotThere name="job" back={back} failure={failure} />
          <Past view={view} />
        </>
      ) : (
        <>
          <Top watched={watched} name="job">
            {(read) => (
              <>
                <JobTop job={read} />
                <Why view={view} job={read} />
                <InsightTiles insight={read.insight ?? null} />
              </>
            )}
          </Top>
          <HistorySection view={view} range={range} created={created} />
          <TimelineSection view={view} range={known ? range : null} job={job} created={created} open={open} />
          <FailureGroups view={view} open={open} />
          <TaskSection view={view} counts={job?.taskCounts ?? null} open={open} />
          <LatestEvents account={view.account} of={{ job: view.job }} />
        </>
      )}
      {view.task && <TaskPanel key={view.task} view={view} task={view.task} close={close} />}
    </Shell>
  );
}

const RARELY_MS = 60_000;

/** The history of a job that is forgotten: it is kept longer than the job. */
function Past({ view }: { view: JobView }) {
  const path = `${pathOf(view, "history")}?from=${encodeURIComponent(beginOf("90d"))}`;
  const { value } = useWatched<History>({ path, every: RARELY_MS });
  return value && <HistorySection view={view} range={view.range ?? "90d"} created={-Infinity} />;
}
