// Replaces a list that couldn't be read: names the accounts and the reasons.

import { ExternalText } from "../text/ExternalText.tsx";

/** `reasons` are in the server's words. */
export function UnavailableList({ title, reasons }: { title: string; reasons: [account: string, reason: string][] }) {
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
