// An account's tile on the list of schedules: schedules, active jobs, running tasks, missed runs.

import { useContext } from "preact/hooks";
import type { Account } from "../api/model.ts";
import { formatCount, plural, statesText } from "../format/numbers.ts";
import { Navigation } from "../routing/Link.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { KeyFigure } from "../ui/tiles/KeyFigure.tsx";
import { TileFrame } from "../ui/tiles/TileFrame.tsx";
import { addressOfSchedules, type ScheduleFilters } from "./filters.ts";
import type { Schedule } from "./model.ts";

interface TileProps {
  account: Account;
  /** Null if they weren't read. */
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
        <KeyFigure
          name="Schedules"
          value={listed && formatCount(listed.total)}
          detail={statesText(listed?.byState ?? {})}
        />
        <Sums schedules={listed && schedules} />
      </dl>
      {reason && (
        <footer>
          <span class="bad" data-testid="reason">
            The last poll of schedules failed: <ExternalText text={reason} />
          </span>
        </footer>
      )}
    </TileFrame>
  );
}

/** A number that is unknown for all schedules is a dash; a detail says for how many it is unknown. */
function Sums({ schedules }: { schedules: Schedule[] | null }) {
  const sum = (value: (schedule: Schedule) => number) =>
    schedules && formatCount(schedules.reduce((total, each) => total + value(each), 0));
  const unread = schedules?.reduce((total, { totals }) => total + totals.unreadJobs, 0) ?? 0;
  const waiting = sum(({ totals }) => totals.taskCounts.active);
  const missed = sumOfKnown(schedules, ({ missedRuns }) => missedRuns.count);
  return (
    <>
      <KeyFigure name="Active jobs" value={sum(({ totals }) => totals.activeJobs)} detail={runsOf(schedules)} />
      <KeyFigure
        name="Running tasks"
        value={sum(({ totals }) => totals.taskCounts.running)}
        detail={
          (waiting ? `${waiting} waiting (active)` : "") + (unread ? `; ${plural(unread, "job")} not read yet` : "")
        }
      />
      <KeyFigure
        name="Missed runs"
        value={missed.sum === null ? null : formatCount(missed.sum)}
        detail={missed.unknown ? `unknown for ${plural(missed.unknown, "schedule")}` : ""}
      />
    </>
  );
}

function runsOf(schedules: Schedule[] | null): string {
  const { sum, unknown } = sumOfKnown(schedules, ({ runs }) => runs.total);
  const known = sum === null ? "" : `of ${plural(sum, "run")} so far`;
  return unknown ? `${known}${known && ", "}runs unknown for ${plural(unknown, "schedule")}` : known;
}

/** The sum of the known values, null if none is known, and the number of schedules with unknown ones. */
function sumOfKnown(schedules: Schedule[] | null, value: (schedule: Schedule) => number | null) {
  const values = schedules?.map(value) ?? [];
  const known = values.filter((each) => each !== null);
  const unknown = values.length - known.length;
  const sum = schedules && (known.length || !unknown) ? known.reduce((total, each) => total + each, 0) : null;
  return { sum, unknown };
}
