// The list of job schedules, with a tile for each account.

import { useContext, useEffect } from "preact/hooks";
import { answersQuery, canCount, ListPoller, type ListQuery } from "../api/listPoller.ts";
import { usePolledList } from "../api/usePolledList.ts";
import { Navigation } from "../routing/Link.tsx";
import { ListBody } from "../ui/list/ListBody.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { addressOfSchedules, readScheduleFilters, type ScheduleFilters } from "./filters.ts";
import type { Schedule } from "./model.ts";
import { ScheduleFilterBar } from "./ScheduleFilterBar.tsx";
import { ScheduleList } from "./ScheduleList.tsx";
import { SchedulesTile } from "./SchedulesTile.tsx";

/** The page reads all schedules and filters them itself, as an account has at most some hundreds. */
const ALL = "?maxpagesize=1000";
const SCHEDULES = new ListPoller<Schedule>("jobschedules");

export function SchedulesPage() {
  const filters = readScheduleFilters();
  const navigate = useContext(Navigation);
  const query: ListQuery = { account: filters.account, parameters: ALL };
  const result = usePolledList(SCHEDULES, query);
  useEffect(() => {
    document.title = "Schedules · Batchscope";
  }, []);
  const choose = (change: Partial<ScheduleFilters>) => navigate(addressOfSchedules({ ...filters, ...change }), "replace");
  return (
    <Shell tab="schedules" account={filters.account} result={result} retry={() => SCHEDULES.refresh()}>
      <ListBody result={result}>
        {(snapshot) => (
          <>
            <section class="tiles" aria-label="Accounts">
              {snapshot.accounts
                .filter(({ id }) => !filters.account || id === filters.account)
                .map((account) => (
                  <SchedulesTile
                    key={account.id}
                    account={account}
                    schedules={snapshot.readAccounts.includes(account.id) ? rowsOf(account.id, snapshot.rows) : null}
                    single={snapshot.accounts.length === 1}
                    filters={filters}
                  />
                ))}
            </section>
            <ScheduleFilterBar
              schedules={canCount(snapshot, query, ({ schedules }) => schedules !== null) ? snapshot.rows : null}
              filters={filters}
              choose={choose}
            />
            <ScheduleList snapshot={snapshot} filters={filters} isCurrent={answersQuery(snapshot, query)} />
          </>
        )}
      </ListBody>
    </Shell>
  );
}

function rowsOf(account: string, rows: Schedule[]): Schedule[] {
  return rows.filter((row) => row.account === account);
}
