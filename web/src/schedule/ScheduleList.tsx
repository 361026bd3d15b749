// The schedules as a table; on a narrow screen each row becomes a card. Roles are explicit, as that CSS removes the
// implicit ones.

import type { ListSnapshot } from "../api/listPoller.ts";
import { formatCount } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail, addressOfJob } from "../routing/routes.ts";
import { ColumnHeader } from "../ui/list/ColumnHeader.tsx";
import { RowDetails } from "../ui/list/RowDetails.tsx";
import { UnavailableList } from "../ui/list/UnavailableList.tsx";
import { AccountErrors } from "../ui/page/ErrorNotice.tsx";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Id } from "../ui/text/Id.tsx";
import { VerdictBadge } from "../ui/text/VerdictBadge.tsx";
import { Figure, StateBar } from "../ui/tiles/StateBar.tsx";
import { addressOfSchedules, NO_SCHEDULE_FILTERS, passes, type ScheduleFilters } from "./filters.ts";
import { byUrgency, type MissedRuns, type Schedule } from "./model.ts";
import { recurrenceText, TimeUntil } from "./times.tsx";

interface ScheduleListProps {
  snapshot: ListSnapshot<Schedule>;
  filters: ScheduleFilters;
  /** Whether the snapshot answers the present query. */
  isCurrent: boolean;
}

export function ScheduleList({ snapshot, filters, isCurrent }: ScheduleListProps) {
  const schedules = snapshot.rows.filter((schedule) => passes(schedule, filters)).sort(byUrgency);
  const showAccount = snapshot.accounts.length > 1 && !filters.account;
  return (
    <section class="jobs schedules" aria-label="Schedules">
      <AccountErrors errors={snapshot.errors} />
      {schedules.length ? (
        <ScheduleTable schedules={schedules} showAccount={showAccount} />
      ) : (
        !snapshot.errors.length && <NoSchedules snapshot={snapshot} filters={filters} isCurrent={isCurrent} />
      )}
      {snapshot.truncated && <p class="rest">This page doesn't load all schedules; choose an account.</p>}
    </section>
  );
}

function NoSchedules({ snapshot, filters, isCurrent }: ScheduleListProps) {
  const accounts = snapshot.accounts.filter(({ id }) => !filters.account || id === filters.account);
  const filtered = filters.state || filters.missed || filters.prefix;
  const reasons = accounts.flatMap(({ name, schedules, schedulesReason: reason }): [string, string][] =>
    !schedules && reason ? [[name, reason]] : [],
  );
  if (accounts.length && !isCurrent) return <p class="empty">Loading…</p>;
  if (reasons.length) return <UnavailableList title="Job schedules can't be listed" reasons={reasons} />;
  const waiting = accounts.some(({ enabled, schedules }) => enabled && !schedules);
  const title = !accounts.length ? "This account isn't monitored" : filtered ? "No schedule matches" : "No job schedules";
  return (
    <div class="empty" data-testid="no-schedules">
      <h2>{waiting && !filtered ? "No job schedules yet" : title}</h2>
      {filtered || !accounts.length ? (
        <Link to={addressOfSchedules(NO_SCHEDULE_FILTERS)}>Show all schedules</Link>
      ) : (
        <p>
          {waiting
            ? "Schedules haven't been listed yet. They appear with the account's first job, or within some minutes."
            : "An account's first schedule appears here with its first job, or some minutes after it is added."}
        </p>
      )}
    </div>
  );
}

const COLUMNS: [string, string][] = [
  ["Schedule", ""],
  ["State", ""],
  ["Recurrence", ""],
  ["Next run", "number"],
  ["Recent job", ""],
  ["Active jobs", "number"],
  ["Tasks", "wide"],
  ["Running", "number"],
  ["Runs made", "number"],
  ["Missed", "number"],
  ["Confidence", ""],
  ["Checked", "number"],
];

function ScheduleTable({ schedules, showAccount }: { schedules: Schedule[]; showAccount: boolean }) {
  return (
    <table role="table" data-testid="schedules">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map(([title, kind]) => (
            <ColumnHeader key={title} kind={kind}>
              {title}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {schedules.map((schedule) => (
          <ScheduleRow
            key={`${schedule.account} ${schedule.id} ${schedule.creationTime}`}
            {...{ schedule, showAccount }}
          />
        ))}
      </tbody>
    </table>
  );
}

function ScheduleRow({ schedule, showAccount }: { schedule: Schedule; showAccount: boolean }) {
  const { totals } = schedule;
  return (
    <tr role="row" data-schedule={schedule.id} data-account={schedule.account}>
      <th role="rowheader" scope="row" class="id">
        <Id text={schedule.id} to={addressOfDetail("schedules", schedule.account, schedule.id)} class="open" />
        <RowDetails parts={[showAccount && schedule.account, schedule.displayName !== schedule.id && schedule.displayName]} />
      </th>
      <td role="cell" class="state" data-job-state={schedule.state}>
        {schedule.state}
      </td>
      <td role="cell" class="rhythm">
        {recurrenceText(schedule)}
      </td>
      <td role="cell" class="number next" data-next>
        <span class="label">Next run</span>
        <TimeUntil at={schedule.nextRunTime} />
      </td>
      <td role="cell" class="recent-job">
        <RecentJob schedule={schedule} />
      </td>
      <td role="cell" class="number" data-figure="active jobs">
        <span class="label">Active jobs</span>
        <Figure value={totals.activeJobs} />
      </td>
      <td role="cell" class="wide">
        <StateBar counts={totals.taskCounts} />
      </td>
      <td role="cell" class="number" data-figure="running">
        <span class="label">Running tasks</span>
        <Figure value={totals.taskCounts.running} />
      </td>
      <td role="cell" class="number" data-figure="made">
        <span class="label">Runs made</span>
        <Figure value={schedule.runs.total ?? undefined} />
      </td>
      <td role="cell" class="number" data-figure="missed">
        <span class="label">Missed</span>
        <MissedRunsCount missed={schedule.missedRuns} />
      </td>
      <td role="cell" class="verdict">
        <VerdictBadge verdict={schedule.verdict} />
      </td>
      <td role="cell" class="number age">
        <span class="label">checked </span>
        <Age at={schedule.verdict.checkedAt} none="–" />
      </td>
    </tr>
  );
}

/** The recent job by the end of its id, as the beginning is the schedule's id. */
function RecentJob({ schedule }: { schedule: Schedule }) {
  const recent = schedule.recentJob;
  if (!recent) return <span class="zero">none yet</span>;
  return (
    <>
      <Link to={addressOfJob(schedule.account, recent.id)}>
        <ExternalText text={recent.id.slice(recent.id.lastIndexOf(":") + 1)} />
      </Link>{" "}
      <small>
        {recent.deleted ? "deleted" : (recent.state ?? "not read yet")}
        {schedule.lastRunTime && (
          <>
            , <Age at={schedule.lastRunTime} />
          </>
        )}
      </small>
    </>
  );
}

export function MissedRunsCount({ missed }: { missed: MissedRuns }) {
  if (missed.count === null) {
    return (
      <span class="zero" title={missed.basis}>
        unknown
      </span>
    );
  }
  return (
    <span class={missed.count ? "bad" : "zero"} title={missed.basis}>
      {formatCount(missed.count)}
    </span>
  );
}
