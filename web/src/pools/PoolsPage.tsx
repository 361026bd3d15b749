// The pools that are watched: which have trouble, how their nodes fare, and how busy they are.

import { useContext, useEffect } from "preact/hooks";
import { type Asked, Feed, fits, isCounted } from "../api/feed.ts";
import { useFeed } from "../api/useFeed.ts";
import type { Pool } from "../pool/model.ts";
import { switchedOff } from "../pool/trouble.ts";
import { Going } from "../routing/Link.tsx";
import { ListBody } from "../ui/list/ListBody.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { addressOfPools, type PoolFilters, readPoolFilters } from "./filters.ts";
import { PoolFilterBar } from "./PoolFilterBar.tsx";
import { PoolList } from "./PoolList.tsx";
import { PoolsTile } from "./PoolsTile.tsx";

/** All pools are read and filtered here: there are never as many as there are jobs. */
const ALL = "?maxpagesize=1000";
const POOLS = new Feed<Pool>("pools");

export function PoolsPage() {
  const filters = readPoolFilters();
  const go = useContext(Going);
  const asked: Asked = { account: filters.account, query: ALL };
  const result = useFeed(POOLS, asked);
  useEffect(() => {
    document.title = "Pools · Batchscope";
  }, []);
  const choose = (change: Partial<PoolFilters>) => go(addressOfPools({ ...filters, ...change }), "replace");
  return (
    <Shell tab="pools" account={filters.account} result={result} retry={() => POOLS.refresh()}>
      <ListBody result={result}>
        {(picture) => (
          <>
            <section class="tiles" aria-label="Accounts">
              {picture.accounts.map((account) => (
                <PoolsTile
                  key={account.id}
                  account={account}
                  single={picture.accounts.length === 1}
                  filters={filters}
                />
              ))}
            </section>
            <PoolFilterBar
              pools={isCounted(picture, asked, ({ pools }) => pools !== null) ? picture.rows : null}
              filters={filters}
              off={switchedOff(picture.accounts)}
              choose={choose}
            />
            <PoolList picture={picture} filters={filters} fitting={fits(picture, asked)} />
          </>
        )}
      </ListBody>
    </Shell>
  );
}
