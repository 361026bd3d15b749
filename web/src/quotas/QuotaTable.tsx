// An account's quotas, the one nearest to its limit first; on a narrow screen each row becomes a card.

import { formatTime } from "../format/dates.ts";
import { formatCount } from "../format/numbers.ts";
import { capitalized } from "../format/text.ts";
import { serverClock } from "../time/clock.ts";
import { ColumnHeader } from "../ui/list/ColumnHeader.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Quota } from "./model.ts";
import { byShare, levelOf, limitText, nounOf, reachedText, usedShare } from "./texts.ts";

const COLUMNS: [title: string, kind?: string][] = [
  ["Quota"],
  ["Used", "number"],
  ["Limit", "number"],
  ["Share", "number"],
  ["", "wide"],
  ["Reached", "number"],
];

interface TableProps {
  quotas: readonly Quota[];
  /** Whether each row says why its limit isn't known. */
  showsReasons: boolean;
}

export function QuotaTable({ quotas, showsReasons }: TableProps) {
  return (
    <table class="runs-table quotas" role="table" data-testid="quotas">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map(([title, kind]) => (
            <ColumnHeader key={title} kind={kind}>
              {title || <span class="unseen">Share as a bar</span>}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {byShare(quotas).map((quota) => (
          <QuotaRow key={`${quota.quota} ${quota.family}`} quota={quota} showsReasons={showsReasons} />
        ))}
      </tbody>
    </table>
  );
}

function QuotaRow({ quota, showsReasons }: { quota: Quota; showsReasons: boolean }) {
  const { family, used, limit, share, reachedAt, detail } = quota;
  return (
    <tr role="row" data-quota={family ?? quota.quota} data-level={levelOf(quota)}>
      <th role="rowheader" scope="row">
        {capitalized(nounOf(quota))}
        {family && (
          <small>
            {" "}
            <ExternalText text={family} />
          </small>
        )}
        {showsReasons && detail && (
          <span class="aside">
            <ExternalText text={detail} />
          </span>
        )}
      </th>
      <td role="cell" class="number">
        <span class="label">used </span>
        <b>{formatCount(used)}</b>
      </td>
      <td role="cell" class={limit === null ? "number soft" : "number"}>
        <span class="label">limit </span>
        {limitText(quota)}
      </td>
      <td role="cell" class="number" data-empty={share === null}>
        {usedShare(quota)}
      </td>
      <td role="cell" class="wide" data-empty={share === null}>
        {share !== null && (
          <div class="quota-bar" aria-hidden="true">
            <span style={{ width: `${Math.min(100, share * 100)}%` }} />
          </div>
        )}
      </td>
      <td role="cell" class="number" data-empty={!reachedAt} title={reachedAt ? formatTime(Date.parse(reachedAt)) : undefined}>
        <span class="label">reached </span>
        {reachedText(quota, serverClock.now())}
      </td>
    </tr>
  );
}
