// The contents of a page about one account while none is known.

import type { Account, Page } from "../../api/model.ts";
import type { Polled } from "../../api/usePolled.ts";

export function NoAccount({ accounts: { value, failure } }: { accounts: Polled<Page<Account>> }) {
  if (!value) return failure ? null : <p class="empty">Loading…</p>;
  return <p class="empty">No account is monitored.</p>;
}
