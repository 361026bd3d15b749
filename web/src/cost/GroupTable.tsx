// The costs of groups, the dearest first; on a narrow screen each row becomes a card.

import { useState } from "preact/hooks";
import { capitalized } from "../format/text.ts";
import { Link } from "../routing/Link.tsx";
import { ColumnHeader } from "../ui/list/ColumnHeader.tsx";
import { ListFooter } from "../ui/list/ListFooter.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { billedSeconds } from "./amounts/classes.ts";
import { addressOfGroup, groupLabel, wordsOf } from "./amounts/groups.ts";
import { type AccountCost, type CostGroup, hasShares } from "./amounts/model.ts";
import { amountText, hoursText, shareText } from "./amounts/texts.ts";

const ROWS = 50;

export function GroupTable({ cost }: { cost: AccountCost }) {
  const [rows, setRows] = useState(ROWS);
  const { value, groupBy } = cost;
  if (!value.length) return <p class="nothing">Nothing ran in this range.</p>;
  const titles = ["Amount", "Share", "Wasted", ...(hasShares(groupBy) ? ["Shared"] : []), "Not watched", "Node hours", "Without price"];
  return (
    <>
      <table class="runs-table cost-groups" role="table" data-testid="cost-groups">
        <thead role="rowgroup">
          <tr role="row">
            <ColumnHeader>{capitalized(wordsOf(groupBy).noun)}</ColumnHeader>
            {titles.map((title) => (
              <ColumnHeader key={title} kind="number">
                {title}
              </ColumnHeader>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {value.slice(0, rows).map((group) => (
            <GroupRow key={group.name} group={group} cost={cost} />
          ))}
        </tbody>
      </table>
      <ListFooter noun="groups" shown={rows} all={value.length} show={() => setRows(rows + ROWS)} more={null} />
    </>
  );
}

function GroupRow({ group: { name, cost: sum }, cost: { account, currency, groupBy, cost: all } }: { group: CostGroup; cost: AccountCost }) {
  const address = addressOfGroup(groupBy, account, name);
  const label = <ExternalText text={groupLabel(groupBy, name)} />;
  const seconds = groupBy === "class" ? (sum.nodeSeconds[name] ?? 0) : billedSeconds(sum.nodeSeconds);
  return (
    <tr role="row" data-group={name}>
      <th role="rowheader" scope="row" class={name ? "group" : "group soft"}>
        {address ? <Link to={address}>{label}</Link> : label}
      </th>
      <Cell label="" text={amountText(sum.amount, currency)} isStrong />
      <Cell label="share " text={shareText(sum.amount ?? 0, all.amount)} />
      <Cell label="wasted " text={amountText(sum.wastedAmount, currency)} isZero={sum.wastedAmount === 0} />
      {hasShares(groupBy) && <Cell label="shared " text={amountText(sum.sharedAmount, currency)} isZero={sum.sharedAmount === 0} />}
      <Cell label="not watched " text={amountText(sum.uncertainAmount, currency)} isZero={sum.uncertainAmount === 0} />
      <Cell label="nodes " text={hoursText(seconds)} isZero={!seconds} />
      <Cell label="without price " text={hoursText(sum.unpricedSeconds)} isZero={!sum.unpricedSeconds} />
    </tr>
  );
}

interface CellProps {
  /** Names the value on a card. */
  label: string;
  text: string;
  isStrong?: boolean;
  isZero?: boolean;
}

/** A number; zero is a dash, which cards leave out. */
function Cell({ label, text, isStrong = false, isZero = false }: CellProps) {
  return (
    <td role="cell" class="number" data-empty={isZero}>
      <span class="label">{label}</span>
      {isZero ? <span class="zero">–</span> : isStrong ? <b>{text}</b> : text}
    </td>
  );
}
