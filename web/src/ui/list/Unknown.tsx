// What stands in place of a list where its accounts couldn't be read: whose they are, and why.

import { ExternalText } from "../text/ExternalText.tsx";

/** Reasons in the server's words, by account. */
export function Unknown({ title, reasons }: { title: string; reasons: [account: string, reason: string][] }) {
  return (
    <div class="empty" data-testid="unknown">
      <h2>{title}</h2>
      {reasons.map(([account, reason]) => (
        <p key={account} class="bad">
          <ExternalText text={account} />: <ExternalText text={reason} />
        </p>
      ))}
    </div>
  );
}
