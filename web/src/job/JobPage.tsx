// The page of a job: summary, explanation, statistics, history, nodes, efficiency, failures and what they have in
// common, tasks, events.

import { useContext } from "preact/hooks";
import type { Job } from "../api/model.ts";
import { pathOfJob } from "../api/paths.ts";
import { POLL_MS } from "../api/poller.ts";
import { usePolled } from "../api/usePolled.ts";
import { HistorySection } from "../charts/HistorySection.tsx";
import { LatestEvents } from "../events/LatestEvents.tsx";
import { addressOfJobView, type JobView } from "../routing/jobView.ts";
import { Navigation } from "../routing/Link.tsx";
import { type Range, rangeFor } from "../time/ranges.ts";
import { Breadcrumb, useDetailPage } from "../ui/page/Breadcrumb.tsx";
import { DetailBody, NotFound } from "../ui/page/DetailPage.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { ComparisonSection } from "./comparison/ComparisonSection.tsx";
import { EfficiencySection } from "./efficiency/EfficiencySection.tsx";
import { ExplanationSection } from "./explanation/ExplanationSection.tsx";
import { FailureGroups } from "./FailureGroups.tsx";
import { JOB_HISTORY } from "./historyKind.tsx";
import { JobSummary } from "./JobSummary.tsx";
import { StatisticsTiles } from "./StatisticsTiles.tsx";
import { TaskPanel } from "./taskpanel/TaskPanel.tsx";
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
  const history = {
    kind: JOB_HISTORY,
    path: pathOfJob(view, "history"),
    id: view.job,
    created,
    addressOf: (each: Range) => addressOfJobView({ ...view, range: each }),
  };
  return (
    <Shell tab="jobs" account={view.account} back={back} result={polled} showsErrors retry={polled.retry}>
      <Breadcrumb tab="jobs" account={view.account} id={view.job} name="job" />
      {gone ? (
        <>
          <NotFound name="job" back={back} failure={failure} />
          <HistorySection key="gone" {...history} range={view.range ?? "90d"} gone />
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
          <HistorySection {...history} range={range} />
          <TimelineSection view={view} range={known ? range : null} job={job} created={created} open={open} />
          <EfficiencySection view={view} />
          <FailureGroups view={view} open={open} />
          <ComparisonSection view={view} counts={job?.taskCounts ?? null} />
          <TaskSection view={view} counts={job?.taskCounts ?? null} open={open} />
          <LatestEvents account={view.account} subject={{ job: view.job }} />
        </>
      )}
      {view.task && <TaskPanel key={view.task} view={view} task={view.task} close={close} />}
    </Shell>
  );
}
