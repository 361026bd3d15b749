// One job: what it is and how it does, its history, what failed, its tasks and the nodes they ran on.

import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Going, Link } from "../Link";
import type { Job } from "../model";
import { Outside, visible } from "../Outside";
import { POLL_MS } from "../poller";
import { Shell } from "../Shell";
import { FailureGroups } from "./FailureGroups";
import { HistorySection } from "./HistorySection";
import { InsightTiles } from "./InsightTiles";
import { JobTop } from "./JobTop";
import { useWatched, type Watched } from "./watching";
import { TaskPanel } from "./TaskPanel";
import { TaskSection } from "./TaskSection";
import { TimelineSection } from "./TimelineSection";
import { pathOf, rangeFor, type JobView } from "./view";

interface JobPageProps {
  view: JobView;
  /** The list as it was left. */
  back: string;
}

export function JobPage({ view, back }: JobPageProps) {
  const watched = useWatched<Job>({ path: pathOf(view), every: POLL_MS });
  const [task, setTask] = useState<string | null>(null);
  const go = useContext(Going);
  useEffect(() => {
    document.title = `${visible(view.job)} · Batchscope`;
    const leave = (event: KeyboardEvent) => {
      const busy = event.target instanceof HTMLInputElement || document.querySelector("dialog[open], .tip");
      if (event.key === "Escape" && !event.defaultPrevented && !busy) go(back);
    };
    window.addEventListener("keydown", leave);
    return () => window.removeEventListener("keydown", leave);
  }, [view.job, back]);

  const { value: job, failure } = watched;
  const silent = failure?.message === null ? failure : null;
  const gone = failure?.status === 404 && !job;
  const created = job?.creationTime ? Date.parse(job.creationTime) : -Infinity;
  const range = view.range ?? (job || failure ? rangeFor(job) : null);
  return (
    <Shell reading={{ value: job, failure: silent }} retry={watched.retry}>
      <Crumbs view={view} back={back} />
      {gone ? (
        <NoJob back={back} message={failure.message ?? ""} />
      ) : (
        <>
          <Top watched={watched} />
          <HistorySection view={view} range={range} created={created} />
          <TimelineSection view={view} range={range} created={created} open={setTask} />
          <FailureGroups view={view} open={setTask} />
          <TaskSection view={view} counts={job?.taskCounts ?? null} open={setTask} />
        </>
      )}
      {task !== null && <TaskPanel key={task} view={view} task={task} close={() => setTask(null)} />}
    </Shell>
  );
}

function Top({ watched: { value: job, failure, retry } }: { watched: Watched<Job> }) {
  return (
    <>
      {failure?.message != null && (
        <p class="problem" role="alert" data-testid="job-problem">
          <span>
            <Outside text={failure.message} />
          </span>
          <button type="button" onClick={retry}>
            Retry
          </button>
        </p>
      )}
      {job ? (
        <div class={failure ? "outdated" : ""}>
          <JobTop job={job} />
          <InsightTiles insight={job.insight ?? null} />
        </div>
      ) : (
        !failure && <p class="loading card">Loading…</p>
      )}
    </>
  );
}

function Crumbs({ view, back }: JobPageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="crumbs">
      <nav aria-label="Where this is">
        <Link to={back}>Jobs</Link>
        <span aria-hidden="true">/</span>
        <Link to={`?${new URLSearchParams({ account: view.account })}`}>
          <Outside text={view.account} />
        </Link>
        <span aria-hidden="true">/</span>
      </nav>
      <h2 ref={heading} tabIndex={-1} data-testid="job-heading">
        <Outside text={view.job} />
      </h2>
    </div>
  );
}

function NoJob({ back, message }: { back: string; message: string }) {
  return (
    <div class="empty" data-testid="no-such-job">
      <h3>There is no such job</h3>
      <p>
        <Outside text={message} />
      </p>
      <Link to={back}>Show all jobs</Link>
    </div>
  );
}
