// What jobs used of what their slots offer, by group over the page's range, and the changes that would save most.

import { useState } from "preact/hooks";
import { pathOfAccount } from "../../api/paths.ts";
import { usePolled } from "../../api/usePolled.ts";
import { formatCount } from "../../format/numbers.ts";
import { sharesText } from "../../format/shares.ts";
import { Link } from "../../routing/Link.tsx";
import { addressOfDetail } from "../../routing/routes.ts";
import { ColumnHeader } from "../../ui/list/ColumnHeader.tsx";
import { ListFooter } from "../../ui/list/ListFooter.tsx";
import { PolledContents } from "../../ui/page/PolledContents.tsx";
import { TitledCard } from "../../ui/page/TitledCard.tsx";
import { ExternalText } from "../../ui/text/ExternalText.tsx";
import { amountText } from "../amounts/texts.ts";
import { jobGroupingNoun, jobGroupingOf, jobGroupLabel } from "./groupings.ts";
import type { AccountEfficiency, EfficiencyGroup, Saving } from "./model.ts";
import { WeekPanel } from "./WeekPanel.tsx";

const INTERVAL_MS = 300_000;
const ROWS = 50;

interface CardProps {
  account: string;
  groupBy: string;
  /** The beginning of the page's range. */
  from: string;
}

export function EfficiencyCard({ account, groupBy, from }: CardProps) {
  const query = new URLSearchParams({ from, groupBy: jobGroupingOf(groupBy) });
  const path = `${pathOfAccount(account, "efficiency")}?${query}`;
  const polled = usePolled<AccountEfficiency>({ path, intervalMs: INTERVAL_MS });
  return (
    <TitledCard title={`Efficiency by ${jobGroupingNoun(groupBy)}`} name="account-efficiency">
      <PolledContents polled={polled} name="account-efficiency" title="Efficiency">
        {(efficiency) => <Contents efficiency={efficiency} groupBy={groupBy} />}
      </PolledContents>
      <WeekPanel account={account} groupBy={groupBy} />
    </TitledCard>
  );
}

function Contents({ efficiency, groupBy }: { efficiency: AccountEfficiency; groupBy: string }) {
  const [rows, setRows] = useState(ROWS);
  const { account, currency, value, savings } = efficiency;
  const measured = value.filter(({ sums }) => sums.measuredRuns > 0);
  return (
    <>
      {measured.length > 0 ? (
        <>
          <GroupTable groups={measured.slice(0, rows)} groupBy={groupBy} currency={currency} />
          <ListFooter noun="groups" shown={rows} all={measured.length} show={() => setRows(rows + ROWS)} more={null} />
        </>
      ) : (
        <p class="waste-note">No run of a task was measured in this range: the node agent writes a record of each.</p>
      )}
      {savings.length > 0 && (
        <>
          <h4 class="waste-part">
            Most rewarding changes <small>in this range</small>
          </h4>
          <ol class="waste-findings" data-testid="savings">
            {savings.map((saving) => (
              <SavingLine key={`${saving.code} ${saving.job} ${saving.pool} ${saving.vmSize}`} saving={saving} account={account} currency={currency} />
            ))}
          </ol>
        </>
      )}
    </>
  );
}

const TITLES = ["Jobs", "Measured runs", "Used", "Cost", "Wasted"];

function GroupTable({ groups, groupBy, currency }: { groups: EfficiencyGroup[]; groupBy: string; currency: string }) {
  return (
    <table class="runs-table" role="table" data-testid="efficiency-groups">
      <thead role="rowgroup">
        <tr role="row">
          <ColumnHeader>Group</ColumnHeader>
          {TITLES.map((title) => (
            <ColumnHeader key={title} kind="number">
              {title}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {groups.map(({ name, sums }) => (
          <tr key={name} role="row">
            <th role="rowheader" scope="row" class={name ? "group" : "group soft"}>
              <ExternalText text={jobGroupLabel(groupBy, name)} />
            </th>
            <Cell label="jobs " text={formatCount(sums.jobs)} />
            <Cell label="runs " text={formatCount(sums.measuredRuns)} />
            <Cell label="used " text={sharesText(sums.usedShares) || "too few or unknown"} />
            <Cell label="cost " text={amountText(sums.amount, currency)} />
            <Cell label="wasted " text={amountText(sums.wastedAmount, currency)} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell({ label, text }: { label: string; text: string }) {
  return (
    <td role="cell" class="number">
      <span class="label">{label}</span>
      {text}
    </td>
  );
}

function SavingLine({ saving, account, currency }: { saving: Saving; account: string; currency: string }) {
  return (
    <li data-code={saving.code}>
      <p class="sum">
        <b>{amountText(saving.amount, currency)}</b> <small>of {amountText(saving.heldAmount, currency)}</small>
      </p>
      <div>
        <p class="soft">
          <Resource account={account} saving={saving} />
          {saving.ownAmount > saving.amount && <> · {amountText(saving.ownAmount, currency)} by itself</>}
        </p>
        <h4 class="initial">
          <ExternalText text={saving.title} />
        </h4>
        <p>
          <ExternalText text={saving.advice} />
        </p>
      </div>
    </li>
  );
}

function Resource({ account, saving: { job, pool } }: { account: string; saving: Saving }) {
  const id = job ?? pool ?? "";
  const kind = job === null ? "pools" : "jobs";
  return (
    <>
      {job === null ? "pool" : "job"}{" "}
      <Link to={addressOfDetail(kind, account, id)}>
        <ExternalText text={id} />
      </Link>
    </>
  );
}
