// What every list has in common: it loads, or it has no accounts to tell of.

import type { ComponentChildren } from "preact";
import type { Picture } from "../../api/feed.ts";
import type { PollResult } from "../../api/poller.ts";

interface BodyProps<Row> {
  result: PollResult<Picture<Row>>;
  children: (picture: Picture<Row>) => ComponentChildren;
}

export function ListBody<Row>({ result: { value: picture, failure }, children }: BodyProps<Row>) {
  if (!picture) return failure ? null : <p class="empty">Loading…</p>;
  if (picture.accounts.length) return <>{children(picture)}</>;
  return (
    <div class="empty" data-testid="no-accounts">
      <h2>No accounts are configured</h2>
      <p>
        Add the Batch accounts to monitor to the setting <code>BATCH_ACCOUNTS</code>. They then appear here.
      </p>
    </div>
  );
}
