// The states that all lists share: loading, and no accounts.

import type { ComponentChildren } from "preact";
import type { ListSnapshot } from "../../api/listPoller.ts";
import type { PollResult } from "../../api/poller.ts";

interface BodyProps<Row> {
  result: PollResult<ListSnapshot<Row>>;
  children: (snapshot: ListSnapshot<Row>) => ComponentChildren;
}

export function ListBody<Row>({ result: { value: snapshot, failure }, children }: BodyProps<Row>) {
  if (!snapshot) return failure ? null : <p class="empty">Loading…</p>;
  if (snapshot.accounts.length) return <>{children(snapshot)}</>;
  return (
    <div class="empty" data-testid="no-accounts">
      <h2>No accounts are configured</h2>
      <p>
        Add the Batch accounts to monitor to the setting <code>BATCH_ACCOUNTS</code>. They then appear here.
      </p>
    </div>
  );
}
