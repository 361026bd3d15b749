// The summary of a job: state, tasks by state, verdict.

import type { Job, TaskCounts, TaskState } from "../api/model.ts";
import { JobCostLine } from "../cost/lines/CostLine.tsx";
import { formatCount, formatShare, plural } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail } from "../routing/routes.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { VerdictLine } from "../ui/text/VerdictLine.tsx";
import { FailedTasksLine } from "../ui/tiles/FailedTasksLine.tsx";
import { Figure, ReadBar, StateBar } from "../ui/tiles/StateBar.tsx";
import { TaskStateFigures } from "../ui/tiles/TaskStateFigures.tsx";

export function JobSummary({ job }: { job: Job }) {
  return (
    <section class="tile job-top" aria-label="Job" data-job={job.id}>
      <Facts job={job} />
      <Numbers counts={job.taskCounts} />
      {job.progress ? <ReadBar {...job.progress} /> : <StateBar counts={job.taskCounts} />}
      <FailedTasksLine failed={job.failedTasks} />
      <JobCostLine account={job.account} job={job.id} />
      <VerdictLine verdict={job.verdict}>
        {job.taskRead && (
          <span class="checked" data-testid="task-read">
            last read of the task list: {job.taskRead.seconds.toFixed(2)} s, {plural(job.taskRead.requests, "request")},{" "}
            {plural(job.taskRead.pages, "page")}
          </span>
        )}
      </VerdictLine>
    </section>
  );
}

function Facts({ job }: { job: Job }) {
  const state = job.deleted ? "deleted" : job.state;
  const schedule = /^(.+):job-\d+$/.exec(job.id)?.[1]; // only ids of schedules' jobs have a colon
  return (
    <ul class="facts">
      <li class="state" data-job-state={state}>
        {state}
      </li>
      <li>
        pool{" "}
        {job.poolId ? (
          <Link to={addressOfDetail("pools", job.account, job.poolId)}>
            <ExternalText text={job.poolId} />
          </Link>
        ) : (
          "–"
        )}
      </li>
      {schedule && (
        <li>
          schedule{" "}
          <Link to={addressOfDetail("schedules", job.account, schedule)}>
            <ExternalText text={schedule} />
          </Link>
        </li>
      )}
      <li>
        account <ExternalText text={job.account} />
      </li>
      <li>
        created <Age at={job.creationTime} none="at an unknown time" />
      </li>
      {job.displayName && job.displayName !== job.id && (
        <li class="called">
          <ExternalText text={job.displayName} />
        </li>
      )}
      {job.terminateReason && (
        <li>
          terminated: <ExternalText text={job.terminateReason} />
        </li>
      )}
    </ul>
  );
}

function Numbers({ counts }: { counts: TaskCounts | null }) {
  return (
    <dl class="numbers">
      <div class="lead">
        <dt>Tasks</dt>
        <dd data-testid="job-total">
          <Figure value={counts?.total} />
        </dd>
        <dd class="detail">{counts ? `${formatCount(counts.completed)} completed` : "not read yet"}</dd>
      </div>
      <TaskStateFigures
        counts={counts}
        name="job"
        detailOf={(state) => (counts ? shareOfCompleted(state, counts) : "")}
      />
    </dl>
  );
}

/** The share of a result among completed tasks. */
function shareOfCompleted(state: TaskState, counts: TaskCounts): string {
  if (!counts.completed || (state !== "succeeded" && state !== "failed")) return "";
  return `${formatShare(counts[state], counts.completed)} of completed`;
}
