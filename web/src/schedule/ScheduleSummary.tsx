// The summary of a schedule: state, recurrence, numbers of runs, tasks of its jobs, verdict.

import { formatCount, plural } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail } from "../routing/routes.ts";
import { Age, TimeInState } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { VerdictLine } from "../ui/text/VerdictLine.tsx";
import { KeyFigure } from "../ui/tiles/KeyFigure.tsx";
import { StateBar } from "../ui/tiles/StateBar.tsx";
import { poolOf, type Schedule, type ScheduleDetails } from "./model.ts";
import { MissedRunsCount } from "./ScheduleList.tsx";
import { durationText, recurrenceText, TimeUntil } from "./times.tsx";

export function ScheduleSummary({ schedule }: { schedule: ScheduleDetails }) {
  const { totals } = schedule;
  return (
    <section class="tile job-top" aria-label="Schedule" data-schedule={schedule.id}>
      <Facts schedule={schedule} />
      <Numbers schedule={schedule} />
      <StateBar counts={totals.taskCounts} />
      <p class="tasks-line" data-testid="tasks-line">
        {tasksText(schedule)}
        {totals.asOf && (
          <>
            , as of <Age at={totals.asOf} /> or later
          </>
        )}
        {totals.exact ? "" : "; not all counts are exact"}
      </p>
      <MissedLine schedule={schedule} />
      <VerdictLine verdict={schedule.verdict} />
    </section>
  );
}

function tasksText({ totals: { taskCounts: tasks, unreadJobs, unknownJobs } }: Schedule): string {
  const parts = [
    `${plural(tasks.total, "task")} in its jobs`,
    `${formatCount(tasks.running)} running`,
    `${formatCount(tasks.active)} waiting (active)`,
    `${formatCount(tasks.failed)} failed`,
  ];
  const unread = unreadJobs ? `; ${formatCount(unreadJobs)} of its jobs not read yet` : "";
  return parts.join(", ") + unread + (unknownJobs ? `; ${plural(unknownJobs, "job")} unknown` : "");
}

function Facts({ schedule }: { schedule: ScheduleDetails }) {
  const pool = poolOf(schedule);
  const { doNotRunUntil, doNotRunAfter, startWindow } = schedule.schedule;
  const state = schedule.deleted ? "deleted" : schedule.state;
  return (
    <ul class="facts">
      <li class="state" data-job-state={state}>
        {schedule.deleted ? (
          <>
            deleted, found by a poll <Age at={schedule.deletedTime} none="at an unknown time" />, previously{" "}
            {schedule.state}
          </>
        ) : (
          <>
            {schedule.state} for <TimeInState since={schedule.stateTransitionTime} />
            {schedule.previousState && `, previously ${schedule.previousState}`}
          </>
        )}
      </li>
      <li data-testid="rhythm">
        runs {recurrenceText(schedule)}
        {startWindow && `, start window ${durationText(startWindow)}`}
      </li>
      {doNotRunUntil && <li>not before {new Date(doNotRunUntil).toLocaleString()}</li>}
      {doNotRunAfter && <li>not after {new Date(doNotRunAfter).toLocaleString()}</li>}
      {pool && (
        <li>
          pool{" "}
          <Link to={addressOfDetail("pools", schedule.account, pool)}>
            <ExternalText text={pool} />
          </Link>
        </li>
      )}
      <li>
        account <ExternalText text={schedule.account} />
      </li>
      <li>
        created <Age at={schedule.creationTime} />
      </li>
      {schedule.displayName && schedule.displayName !== schedule.id && (
        <li class="called">
          <ExternalText text={schedule.displayName} />
        </li>
      )}
    </ul>
  );
}

function Numbers({ schedule }: { schedule: Schedule }) {
  const { runs, totals, missedRuns: missed } = schedule;
  const made = runs.total === null ? null : formatCount(runs.total);
  return (
    <dl class="numbers of-pools">
      <div class="lead">
        <dt>Next run</dt>
        <dd data-testid="next-run">
          <TimeUntil at={schedule.deleted ? null : schedule.nextRunTime} />
        </dd>
        <dd class="detail">
          last <Age at={schedule.lastRunTime} none={schedule.recentJob ? "not read yet" : "never"} />
        </dd>
      </div>
      <KeyFigure
        name="Runs made"
        value={made}
        detail={`${formatCount(runs.completed)} completed, ${formatCount(runs.deleted)} deleted`}
      />
      <div class="lead">
        <dt>Missed runs</dt>
        <dd data-testid="missed-runs">
          <MissedRunsCount missed={missed} />
        </dd>
      </div>
      <KeyFigure name="Active jobs" value={formatCount(totals.activeJobs)} />
    </dl>
  );
}

function MissedLine({ schedule: { missedRuns: missed } }: { schedule: Schedule }) {
  return (
    <p class="missed" data-testid="missed-line">
      {missed.count === null ? "Missed runs unknown: " : "Missed runs: "}
      {missed.basis}
      {missed.since && (
        <span class="soft">
          {" "}
          Start of the count: <Age at={missed.since} />.
        </span>
      )}
    </p>
  );
}
