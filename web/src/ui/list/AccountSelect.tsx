// The choice of an account on pages about one account; absent where there is no choice.

import { useContext } from "preact/hooks";
import { visible } from "../../format/text.ts";
import { Navigation } from "../../routing/Link.tsx";

interface SelectProps {
  /** The chosen account, which may be none of those to choose from. */
  account: string;
  accounts: readonly string[];
  addressOf: (account: string) => string;
}

export function AccountSelect({ account, accounts, addressOf }: SelectProps) {
  const navigate = useContext(Navigation);
  if (accounts.length < 2) return null;
  return (
    <select
      aria-label="Account"
      value={account}
      onChange={(event) => navigate(addressOf(event.currentTarget.value), "replace")}
    >
      {!accounts.includes(account) && <option value={account}>{visible(account)}</option>}
      {accounts.map((each) => (
        <option key={each} value={each}>
          {visible(each)}
        </option>
      ))}
    </select>
  );
}
