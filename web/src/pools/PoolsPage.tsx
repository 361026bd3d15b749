// The list of pools, with a tile for each account.

import { useContext, useEffect } from "preact/hooks";
import { answersQuery, canCount, ListPoller, type ListQuery } from "../api/listPoller.ts";
import { usePolledList } from "../api/usePolledList.ts";
import type { Pool } from "../pool/model.ts";
import { unmonitoredAccounts } from "../pool/problems.ts";
import { Navigation } from "../routing/Link.tsx";
import { ListBody } from "../ui/list/ListBody.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { addressOfPools, type PoolFilters, readPoolFilters } from "./filters.ts";
import { PoolFilterBar } from "./PoolFilterBar.tsx";
import { PoolList } from "./PoolList.tsx";
import { PoolsTile } from "./PoolsTile.tsx";

/** The page reads all pools and filters them itself, as they are far fewer than jobs. */
const ALL = "?maxpagesize=1000";
const POOLS = new ListPoller<Pool>("pools");

export function PoolsPage() {
  const filters = readPoolFilters();
  const navigate = useContext(Navigation);
  const query: ListQuery = { account: filters.account, parameters: ALL };
  const result = usePolledList(POOLS, query);
  useEffect(() => {
    document.title = "Pools · Batchscope";
  }, []);
  const choose = (change: Partial<PoolFilters>) => navigate(addressOfPools({ ...filters, ...change }), "replace");
  return (
    <Shell tab="pools" account={filters.account} result={result} retry={() => POOLS.refresh()}>
      <ListBody result={result}>
        {(snapshot) => (
          <>
            <section class="tiles" aria-label="Accounts">
              {snapshot.accounts.map((account) => (
                <PoolsTile
                  key={account.id}
                  account={account}
                  single={snapshot.accounts.length === 1}
                  filters={filters}
                />
              ))}
            </section>
            <PoolFilterBar
              pools={canCount(snapshot, query, ({ pools }) => pools !== null) ? snapshot.rows : null}
              filters={filters}
              unmonitored={unmonitoredAccounts(snapshot.accounts)}
              choose={choose}
            />
            <PoolList snapshot={snapshot} filters={filters} isCurrent={answersQuery(snapshot, query)} />
          </>
        )}
      </ListBody>
    </Shell>
  );
}
