// The choices of the cost page: account, range, grouping, and how idle time is shared among jobs. All are in its address.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { capitalized, visible } from "../format/text.ts";
import { Link, Navigation } from "../routing/Link.tsx";
import { GROUPING_WORDS } from "./amounts/groups.ts";
import { GROUPINGS, hasShares, SHARINGS, type Sharing } from "./amounts/model.ts";
import { addressOfCost, type CostView, RANGES } from "./costView.ts";

const SHARING_LABELS: Record<Sharing, string> = {
  proportional: "shared among jobs by use",
  even: "shared among jobs evenly",
  none: "not shared among jobs",
};

interface ControlsProps {
  view: CostView;
  /** The accounts to choose from. */
  accounts: string[];
  /** Actions beside the choices. */
  children: ComponentChildren;
}

export function CostControls({ view, accounts, children }: ControlsProps) {
  return (
    <section class="cost-controls" aria-label="Costs shown">
      <AccountSelect view={view} accounts={accounts} />
      <nav class="ranges" aria-label="Group by">
        {GROUPINGS.map((groupBy) => (
          <Link key={groupBy} to={addressOfCost({ ...view, groupBy })} current={groupBy === view.groupBy} mode="replace">
            {capitalized(GROUPING_WORDS[groupBy].noun)}
          </Link>
        ))}
      </nav>
      <nav class="ranges" aria-label="Range">
        {RANGES.map((days) => (
          <Link key={days} to={addressOfCost({ ...view, days })} current={days === view.days} mode="replace">
            {days} d
          </Link>
        ))}
      </nav>
      {hasShares(view.groupBy) && <SharingSelect view={view} />}
      <div class="actions">{children}</div>
    </section>
  );
}

function AccountSelect({ view, accounts }: { view: CostView; accounts: string[] }) {
  const navigate = useContext(Navigation);
  if (accounts.length < 2) return null;
  const isKnown = accounts.includes(view.account);
  return (
    <select
      aria-label="Account"
      value={view.account}
      onChange={(event) => navigate(addressOfCost({ ...view, account: event.currentTarget.value }), "replace")}
    >
      {!isKnown && <option value={view.account}>{visible(view.account)}</option>}
      {accounts.map((account) => (
        <option key={account} value={account}>
          {visible(account)}
        </option>
      ))}
    </select>
  );
}

function SharingSelect({ view }: { view: CostView }) {
  const navigate = useContext(Navigation);
  const choose = (sharing: string) =>
    navigate(addressOfCost({ ...view, sharing: SHARINGS.find((each) => each === sharing) ?? view.sharing }), "replace");
  return (
    <label>
      Time without a task{" "}
      <select value={view.sharing} onChange={(event) => choose(event.currentTarget.value)}>
        {SHARINGS.map((sharing) => (
          <option key={sharing} value={sharing}>
            {SHARING_LABELS[sharing]}
          </option>
        ))}
      </select>
    </label>
  );
}
