// The job schedules that are watched: when they run next, how their jobs do, and what they missed.

import { useContext, useEffect } from "preact/hooks";
import { type Asked, Feed, fits, isCounted } from "../api/feed.ts";
import { useFeed } from "../api/useFeed.ts";
import { Going } from "../routing/Link.tsx";
import { ListBody } from "../ui/list/ListBody.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { addressOfSchedules, readScheduleFilters, type ScheduleFilters } from "./filters.ts";
import type { Schedule } from "./model.ts";
import { ScheduleFilterBar } from "./ScheduleFilterBar.tsx";
import { ScheduleList } from "./ScheduleList.tsx";
import { SchedulesTile } from "./SchedulesTile.tsx";

/** All are read and filtered here: an account has some hundreds at most. */
const ALL = "?maxpagesize=1000";
const SCHEDULES = new Feed<Schedule>("jobschedules");

export function SchedulesPage() {
  const filters = readScheduleFilters();
  const go = useContext(Going);
  const asked: Asked = { account: filters.account, query: ALL };
  const result = useFeed(SCHEDULES, asked);
  useEffect(() => {
    document.title = "Schedules · Batchscope";
  }, []);
  const choose = (change: Partial<ScheduleFilters>) => go(addressOfSchedules({ ...filters, ...change }), "replace");
  return (
    <Shell tab="schedules" account={filters.account} result={result} retry={() => SCHEDULES.refresh()}>
      <ListBody result={result}>
        {(picture) => (
          <>
            <section class="tiles" aria-label="Accounts">
              {picture.accounts
                .filter(({ id }) => !filters.account || id === filters.account)
                .map((account) => (
                  <SchedulesTile
                    key={account.id}
                    account={account}
                    schedules={picture.read.includes(account.id) ? rowsOf(account.id, picture.rows) : null}
                    single={picture.accounts.length === 1}
                    filters={filters}
                  />
                ))}
            </section>
            <ScheduleFilterBar
              schedules={isCounted(picture, asked, ({ schedules }) => schedules !== null) ? picture.rows : null}
              filters={filters}
              choose={choose}
            />
            <ScheduleList picture={picture} filters={filters} fitting={fits(picture, asked)} />
          </>
        )}
      </ListBody>
    </Shell>
  );
}

function rowsOf(account: string, rows: Schedule[]): Schedule[] {
  return rows.filter((row) => row.account === account);
}
