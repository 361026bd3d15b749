// The list of jobs, with a tile for each account.

import { useContext, useEffect } from "preact/hooks";
import { answersQuery, ListPoller, type ListQuery } from "../api/listPoller.ts";
import type { Job } from "../api/model.ts";
import { usePolledList } from "../api/usePolledList.ts";
import { NeedsAttention } from "../conditions/NeedsAttention.tsx";
import { Navigation } from "../routing/Link.tsx";
import { ListBody } from "../ui/list/ListBody.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { AccountTile } from "./AccountTile.tsx";
import { addressOfJobs, type JobFilters, jobsQuery, readJobFilters } from "./filters.ts";
import { JobFilterBar } from "./JobFilterBar.tsx";
import { JobList } from "./JobList.tsx";

const JOBS = new ListPoller<Job>("jobs");

export function JobsPage() {
  const filters = readJobFilters();
  const navigate = useContext(Navigation);
  const query: ListQuery = { account: filters.account, parameters: jobsQuery(filters) };
  const result = usePolledList(JOBS, query);
  useEffect(() => {
    document.title = "Batchscope";
  }, []);
  const choose = (change: Partial<JobFilters>) =>
    navigate(addressOfJobs({ ...filters, ...change }), "prefix" in change ? "replace" : "push");
  return (
    <Shell tab="jobs" account={filters.account} result={result} retry={() => JOBS.refresh()}>
      <ListBody result={result}>
        {(snapshot) => (
          <>
            <NeedsAttention account={filters.account} />
            <section class="tiles" aria-label="Accounts">
              {snapshot.accounts.map((account) => (
                <AccountTile
                  key={account.id}
                  account={account}
                  single={snapshot.accounts.length === 1}
                  filters={filters}
                  choose={choose}
                />
              ))}
            </section>
            <JobFilterBar accounts={snapshot.accounts} filters={filters} choose={choose} />
            <JobList snapshot={snapshot} filters={filters} isCurrent={answersQuery(snapshot, query)} choose={choose} />
          </>
        )}
      </ListBody>
    </Shell>
  );
}
