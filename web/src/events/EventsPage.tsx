// The page of an account's events: the latest first; new ones appear on their own, older ones on demand.

import { useEffect } from "preact/hooks";
import type { Account, Page } from "../api/model.ts";
import { usePolled } from "../api/usePolled.ts";
import { Link } from "../routing/Link.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { EventFeed } from "./EventFeed.tsx";
import { addressOfEvents, type EventFilters, NO_EVENT_FILTERS, readEventFilters } from "./filters.ts";
import { IngestionLine } from "./IngestionLine.tsx";

const INTERVAL_MS = 10_000;

export function EventsPage() {
  const filters = readEventFilters();
  const { value, failure, retry } = usePolled<Page<Account>>({ path: "/api/accounts", intervalMs: INTERVAL_MS });
  const accounts = value?.value ?? [];
  const account = filters.account ? accounts.find(({ id }) => id === filters.account) : accounts[0];
  useEffect(() => {
    document.title = "Events · Batchscope";
  }, []);
  return (
    <Shell tab="events" account={filters.account} result={{ value: value?.value ?? null, failure }} retry={retry}>
      {!value && !failure && <p class="empty">Loading…</p>}
      {accounts.length > 1 && <Accounts accounts={accounts} chosen={account?.id} filters={filters} />}
      {account && <IngestionLine key={account.id} account={account.id} />}
      {account && <EventFeed filters={{ ...filters, account: account.id }} />}
      {value && !account && <NoAccount some={accounts.length > 0} />}
    </Shell>
  );
}

interface AccountsProps {
  accounts: Account[];
  chosen: string | undefined;
  filters: EventFilters;
}

/** Each account has its own event log. */
function Accounts({ accounts, chosen, filters }: AccountsProps) {
  return (
    <nav class="choices accounts" aria-label="Account">
      {accounts.map(({ id }) => (
        <Link key={id} to={addressOfEvents({ ...filters, account: id })} current={id === chosen}>
          <ExternalText text={id} />
        </Link>
      ))}
    </nav>
  );
}

function NoAccount({ some }: { some: boolean }) {
  return (
    <div class="empty" data-testid="no-accounts">
      <h2>{some ? "This account isn't monitored" : "No accounts are configured"}</h2>
      {some ? (
        <Link to={addressOfEvents(NO_EVENT_FILTERS)}>Show all events</Link>
      ) : (
        <p>
          Add the Batch accounts to monitor to the setting <code>BATCH_ACCOUNTS</code>. Their events then appear here.
        </p>
      )}
    </div>
  );
}
