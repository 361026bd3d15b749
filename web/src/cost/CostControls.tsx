// The choices of the cost page: account, range, grouping, and how idle time is shared among jobs. All are in its address.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { capitalized, visible } from "../format/text.ts";
import { Link, Navigation } from "../routing/Link.tsx";
import { AccountSelect } from "../ui/list/AccountSelect.tsx";
import { GROUPING_WORDS } from "./amounts/groups.ts";
import { GROUPINGS, hasShares, isLabel, LABEL_SOURCES, SHARINGS, type Sharing } from "./amounts/model.ts";
import { addressOfCost, type CostView, groupingOf, RANGES } from "./costView.ts";

const SHARING_LABELS: Record<Sharing, string> = {
  proportional: "shared among jobs by use",
  even: "shared among jobs evenly",
  none: "not shared among jobs",
};

interface ControlsProps {
  view: CostView;
  /** The accounts to choose from. */
  accounts: string[];
  /** Names of metadata and tags to group by. */
  labels: readonly string[];
  /** Actions beside the choices. */
  children: ComponentChildren;
}

export function CostControls({ view, accounts, labels, children }: ControlsProps) {
  return (
    <section class="cost-controls" aria-label="Costs shown">
      <AccountSelect account={view.account} accounts={accounts} addressOf={(account) => addressOfCost({ ...view, account })} />
      <nav class="ranges" aria-label="Group by">
        {GROUPINGS.map((groupBy) => (
          <Link key={groupBy} to={addressOfCost({ ...view, groupBy })} current={groupBy === view.groupBy} mode="replace">
            {capitalized(GROUPING_WORDS[groupBy].noun)}
          </Link>
        ))}
      </nav>
      <LabelSelect view={view} labels={labels} />
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

const SOURCE_LABELS = { metadata: "Metadata of jobs and pools", tag: "Tags of the account" } as const;

/** The choice of a label to group by; absent where none is kept. */
function LabelSelect({ view, labels }: { view: CostView; labels: readonly string[] }) {
  const navigate = useContext(Navigation);
  const { groupBy } = view;
  const chosen = isLabel(groupBy) ? groupBy : "";
  const names = [...new Set([...labels, ...(chosen ? [chosen.slice(chosen.indexOf(":") + 1)] : [])])];
  if (!names.length) return null;
  return (
    <select
      aria-label="Group by a label"
      value={chosen}
      onChange={(event) => navigate(addressOfCost({ ...view, groupBy: groupingOf(event.currentTarget.value) }), "replace")}
    >
      <option value="">{chosen ? "no label" : "by label…"}</option>
      {LABEL_SOURCES.map((source) => (
        <optgroup key={source} label={SOURCE_LABELS[source]}>
          {names.map((name) => (
            <option key={name} value={`${source}:${name}`}>
              {visible(`${source} ${name}`)}
            </option>
          ))}
        </optgroup>
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
