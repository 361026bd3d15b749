// What is watched, how its jobs are doing, and how sure that is.

import { useContext, useEffect } from "preact/hooks";
import { type Asked, Feed, fits } from "../api/feed.ts";
import type { Job } from "../api/model.ts";
import { useFeed } from "../api/useFeed.ts";
import { Going } from "../routing/Link.tsx";
import { ListBody } from "../ui/list/ListBody.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { AccountTile } from "./AccountTile.tsx";
import { FilterBar } from "./FilterBar.tsx";
import { addressOf, type Filters, jobsQuery, readFilters } from "./filters.ts";
import { JobList } from "./JobList.tsx";

const JOBS = new Feed<Job>("jobs");

export function JobsPage() {
  const filters = readFilters();
  const go = useContext(Going);
  const asked: Asked = { account: filters.account, query: jobsQuery(filters) };
  const result = useFeed(JOBS, asked);
  useEffect(() => {
    document.title = "Batchscope";
  }, []);
  const choose = (change: Partial<Filters>) =>
    go(addressOf({ ...filters, ...change }), "prefix" in change ? "replace" : "push");
  return (
    <Shell tab="jobs" account={filters.account} result={result} retry={() => JOBS.refresh()}>
      <ListBody result={result}>
        {(picture) => (
          <>
            <section class="tiles" aria-label="Accounts">
              {picture.accounts.map((account) => (
                <AccountTile
                  key={account.id}
                  account={account}
                  single={picture.accounts.length === 1}
                  filters={filters}
                  choose={choose}
                />
              ))}
            </section>
            <FilterBar accounts={picture.accounts} filters={filters} choose={choose} />
            <JobList picture={picture} filters={filters} fitting={fits(picture, asked)} choose={choose} />
          </>
        )}
      </ListBody>
    </Shell>
  );
}
