// What is watched, how its jobs are doing, and how sure that is.

import { AccountTile } from "./AccountTile";
import type { Picture } from "./feed";
import { FilterBar } from "./FilterBar";
import type { Filters } from "./filters";
import { JobList } from "./JobList";
import type { Reading } from "./poller";

interface ListPageProps {
  reading: Reading<Picture>;
  filters: Filters;
  choose: (change: Partial<Filters>) => void;
}

export function ListPage({ reading, filters, choose }: ListPageProps) {
  const { value: picture, failure } = reading;
  if (!picture) return failure ? null : <p class="empty">Loading…</p>;
  if (!picture.accounts.length) {
    return (
      <div class="empty" data-testid="no-accounts">
        <h2>No accounts are configured</h2>
        <p>
          Name the Batch accounts to watch in the setting <code>BATCH_ACCOUNTS</code>; they appear here.
        </p>
      </div>
    );
  }
  return (
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
      <JobList picture={picture} filters={filters} choose={choose} />
    </>
  );
}
