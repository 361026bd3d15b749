// The page of a job: summary, explanation, statistics, history, nodes, failures, tasks, events.

import { useContext } from "preact/hooks";
import type { Job } from "../api/model.ts";
import { pathOfJob } from "../api/paths.ts";
import { POLL_MS } from "../api/poller.ts";
import { usePolled } from "../api/usePolled.ts";
import { LatestEvents } from "../events/LatestEvents.tsx";
import { addressOfJobView, type JobView } from "../routing/jobView.ts";
import { Navigation } from "../routing/Link.tsx";
import { beginOf, rangeFor } from "../time/ranges.ts";
import { Breadcrumb, useDetailPage } from "../ui/page/Breadcrumb.tsx";
import { DetailBody, NotFound } from "../ui/page/DetailPage.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { ExplanationSection } from "./explanation/ExplanationSection.tsx";
import { FailureGroups } from "./FailureGroups.tsx";
import { JobHistory } from "./JobHistory.tsx";
import { JobSummary } from "./JobSummary.tsx";
import type { History } from "./model.ts";
import { StatisticsTiles } from "./StatisticsTiles.tsx";
import { TaskPanel } from "./tasks/TaskPanel.tsx";
import { TaskSection } from "./tasks/TaskSection.tsx";
import { TimelineSection } from "./timeline/TimelineSection.tsx";

interface JobPageProps {
  view: JobView;
  /** The address at which the list was left. */
  back: string;
}

export function JobPage({ view, back }: JobPageProps) {
  const polled = usePolled<Job>({ path: pathOfJob(view), intervalMs: POLL_MS });
  const navigate = useContext(Navigation);
  const open = (task: string) => navigate(addressOfJobView({ ...view, task }));
  const close = () => navigate(addressOfJobView({ ...view, task: "" }), "back");
  useDetailPage(view.job, back);
  const { value: job, failure } = polled;
  const gone = failure?.status === 404 && !job;
  const created = job?.creationTime ? Date.parse(job.creationTime) : -Infinity;
  const known = job !== null || failure !== null;
  const range = view.range ?? (known ? rangeFor(job) : null);
  return (
    <Shell tab="jobs" account={view.account} back={back} result={polled} showsErrors retry={polled.retry}>
      <Breadcrumb tab="jobs" account={view.account} id={view.job} name="job" />
      {gone ? (
        <>
          <NotFound name="job" back={back} failure={failure} />
          <DeletedJobHistory view={view} />
        </>
      ) : (
        <>
          <DetailBody polled={polled} name="job">
            {(read) => (
              <>
                <JobSummary job={read} />
                <ExplanationSection view={view} job={read} />
                <StatisticsTiles statistics={read.insight ?? null} />
              </>
            )}
          </DetailBody>
          <JobHistory view={view} range={range} created={created} />
          <TimelineSection view={view} range={known ? range : null} job={job} created={created} open={open} />
          <FailureGroups view={view} open={open} />
          <TaskSection view={view} counts={job?.taskCounts ?? null} open={open} />
          <LatestEvents account={view.account} subject={{ job: view.job }} />
        </>
      )}
      {view.task && <TaskPanel key={view.task} view={view} task={view.task} close={close} />}
    </Shell>
  );
}

const SLOW_INTERVAL_MS = 60_000;

/** The history of a job that is no longer stored; histories are kept longer than jobs. */
function DeletedJobHistory({ view }: { view: JobView }) {
  const path = `${pathOfJob(view, "history")}?from=${encodeURIComponent(beginOf("90d"))}`;
  const { value } = usePolled<History>({ path, intervalMs: SLOW_INTERVAL_MS });
  return value && <JobHistory view={view} range={view.range ?? "90d"} created={-Infinity} />;
}
