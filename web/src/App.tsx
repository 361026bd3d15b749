// The page: what is watched, how its jobs are doing, and how sure that is.

import { useEffect, useRef, useState } from "preact/hooks";
import { AccountTile } from "./AccountTile";
import { Banner, Liveness } from "./Banner";
import { Feed, type FeedState } from "./feed";
import { FilterBar } from "./FilterBar";
import { addressOf, readFilters, type Filters } from "./filters";
import { JobList } from "./JobList";
import { TipLayer } from "./Tip";

export function App() {
  const [state, setState] = useState<FeedState>({ picture: null, failure: null });
  const [filters, setFilters] = useState<Filters>(readFilters);
  const feed = useRef<Feed>(null);
  feed.current ??= new Feed(filters, setState);
  useEffect(() => feed.current?.start(), []);

  const look = (next: Filters) => {
    setFilters(next);
    feed.current?.look(next);
  };
  useEffect(() => {
    const moved = () => look(readFilters());
    window.addEventListener("popstate", moved);
    return () => window.removeEventListener("popstate", moved);
  }, []);
  const choose = (change: Partial<Filters>) => {
    const next = { ...filters, ...change };
    const typing = "prefix" in change;
    history[typing ? "replaceState" : "pushState"](null, "", addressOf(next));
    look(next);
  };

  return (
    <TipLayer>
      <header class="top">
        <h1>
          <span class="mark" aria-hidden="true" />
          Batchscope
        </h1>
        <Liveness state={state} />
      </header>
      {state.failure && <Banner failure={state.failure} retry={() => feed.current?.refresh()} />}
      <main class={state.failure && state.picture ? "outdated" : ""} aria-busy={!state.picture && !state.failure}>
        <Contents state={state} filters={filters} choose={choose} />
      </main>
    </TipLayer>
  );
}

interface ContentsProps {
  state: FeedState;
  filters: Filters;
  choose: (change: Partial<Filters>) => void;
}

function Contents({ state, filters, choose }: ContentsProps) {
  const { picture, failure } = state;
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
