// One account's job schedules in numbers: how many, the jobs and tasks of theirs that run, the runs that were missed.

import { useContext } from "preact/hooks";
import type { Account } from "../api/model.ts";
import { count, plural, statesInWords } from "../format/numbers.ts";
import { Navigation } from "../routing/Link.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { KeyFigure } from "../ui/tiles/KeyFigure.tsx";
import { TileFrame } from "../ui/tiles/TileFrame.tsx";
import { addressOfSchedules, type ScheduleFilters } from "./filters.ts";
import type { Schedule } from "./model.ts";

interface TileProps {
  account: Account;
  /** Null where they weren't read. */
  schedules: Schedule[] | null;
  single: boolean;
  filters: ScheduleFilters;
}

export function SchedulesTile({ account, schedules, single, filters }: TileProps) {
  const navigate = useContext(Navigation);
  const chosen = filters.account === account.id;
  const toggle = () => navigate(addressOfSchedules({ ...filters, account: chosen ? "" : account.id }));
  const { schedules: listed, schedulesReason: reason } = account;
  return (
    <TileFrame {...{ account, single, chosen, toggle }} asOf={listed?.asOf ?? null}>
      <dl class="numbers of-pools">
        <KeyFigure name="Schedules" value={listed && count(listed.total)} detail={statesInWords(listed?.byState ?? {})} />
        <Sums schedules={listed && schedules} />
      </dl>
      {reason && (
        <footer>
          <span class="bad" data-testid="reason">
            Last poll of schedules: <ExternalText text={reason} />
          </span>
        </footer>
      )}
    </TileFrame>
  );
}

/** What isn't known of any of them is a dash, what isn't known of some is said. */
function Sums({ schedules }: { schedules: Schedule[] | null }) {
  const sum = (value: (schedule: Schedule) => number) =>
    schedules && count(schedules.reduce((total, each) => total + value(each), 0));
  const unread = schedules?.reduce((total, { totals }) => total + totals.unreadJobs, 0) ?? 0;
  const waiting = sum(({ totals }) => totals.taskCounts.active);
  const missed = known(schedules, ({ missedRuns }) => missedRuns.count);
  return (
    <>
      <KeyFigure name="Active jobs" value={sum(({ totals }) => totals.activeJobs)} detail={runsOf(schedules)} />
      <KeyFigure
        name="Running tasks"
        value={sum(({ totals }) => totals.taskCounts.running)}
        detail={(waiting ? `${waiting} waiting (active)` : "") + (unread ? `; ${plural(unread, "job")} not read yet` : "")}
      />
      <KeyFigure
        name="Missed runs"
        value={missed.sum === null ? null : count(missed.sum)}
        detail={missed.unknown ? `unknown for ${plural(missed.unknown, "schedule")}` : ""}
      />
    </>
  );
}

function runsOf(schedules: Schedule[] | null): string {
  const { sum, unknown } = known(schedules, ({ runs }) => runs.total);
  const told = sum === null ? "" : `of ${plural(sum, "run")} so far`;
  return unknown ? `${told}${told && ", "}runs unknown for ${plural(unknown, "schedule")}` : told;
}

/** The sum of what is known, null where nothing is, and of how many schedules it isn't. */
function known(schedules: Schedule[] | null, value: (schedule: Schedule) => number | null) {
  const values = schedules?.map(value) ?? [];
  const told = values.filter((each) => each !== null);
  const unknown = values.length - told.length;
  const sum = schedules && (told.length || !unknown) ? told.reduce((total, each) => total + each, 0) : null;
  return { sum, unknown };
}
