// The pools as a table; on a narrow screen each row becomes a card. Roles are explicit, as that CSS removes the
// implicit ones.

import { useMemo, useState } from "preact/hooks";
import type { ListSnapshot } from "../api/listPoller.ts";
import { COST_HEADING, CostCell } from "../cost/lines/CostCell.tsx";
import { accountsOf, type NamedCost, totalOf, useCostTotals } from "../cost/lines/totals.ts";
import { formatCount, formatRate } from "../format/numbers.ts";
import { capitalized, visible } from "../format/text.ts";
import { NodeBar } from "../nodes/NodeBar.tsx";
import { nodeStatesText, unknownCoresText, vmSizesText } from "../nodes/summaries.ts";
import type { Pool } from "../pool/model.ts";
import {
  type Order,
  problemsOf,
  sortedPools,
  type UnmonitoredAccounts,
  unmonitoredAccounts,
} from "../pool/problems.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail } from "../routing/routes.ts";
import { ColumnHeader, type ColumnOrder } from "../ui/list/ColumnHeader.tsx";
import { ListFooter } from "../ui/list/ListFooter.tsx";
import { RowDetails } from "../ui/list/RowDetails.tsx";
import { UnavailableList } from "../ui/list/UnavailableList.tsx";
import { AccountErrors } from "../ui/page/ErrorNotice.tsx";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { Id } from "../ui/text/Id.tsx";
import { VerdictBadge } from "../ui/text/VerdictBadge.tsx";
import { addressOfPools, NO_POOL_FILTERS, type PoolFilters, passes } from "./filters.ts";
import { PoolSize } from "./PoolSize.tsx";

const ROWS = 200;
const MAX_PROBLEMS = 3;

interface PoolListProps {
  snapshot: ListSnapshot<Pool>;
  filters: PoolFilters;
  /** Whether the snapshot answers the present query. */
  isCurrent: boolean;
}

export function PoolList({ snapshot, filters, isCurrent }: PoolListProps) {
  const [rows, setRows] = useState(ROWS);
  const { rows: all, errors } = snapshot;
  const unmonitored = unmonitoredAccounts(snapshot.accounts);
  const pools = useMemo(
    () => sortedPools(all.filter((pool) => passes(pool, filters, unmonitored)), filters.order, unmonitored),
    [all, JSON.stringify([filters, ...unmonitored])],
  );
  const showAccount = snapshot.accounts.length > 1 && !filters.account;
  return (
    <section class="jobs pools" aria-label="Pools">
      <AccountErrors errors={errors} />
      {pools.length ? (
        <PoolTable pools={pools.slice(0, rows)} showAccount={showAccount} filters={filters} unmonitored={unmonitored} />
      ) : (
        !errors.length && <NoPools snapshot={snapshot} filters={filters} isCurrent={isCurrent} />
      )}
      <ListFooter
        noun="pools"
        shown={rows}
        all={pools.length}
        show={() => setRows(rows + ROWS)}
        more={snapshot.truncated ? "choose an account" : null}
      />
    </section>
  );
}

function NoPools({ snapshot, filters, isCurrent }: PoolListProps) {
  const accounts = snapshot.accounts.filter(({ id }) => !filters.account || id === filters.account);
  const { state, allocationState, problems, prefix } = filters;
  const filtered = state || allocationState || problems || prefix;
  const reasons = accounts.flatMap(({ name, pools, poolsReason: reason }): [string, string][] =>
    !pools && reason ? [[name, reason]] : [],
  );
  if (accounts.length && !isCurrent) return <p class="empty">Loading…</p>;
  if (reasons.length) return <UnavailableList title="Pools can't be listed" reasons={reasons} />;
  const waiting = accounts.some(({ enabled, pools }) => enabled && !pools);
  return (
    <div class="empty" data-testid="no-pools">
      <h2>{!accounts.length ? "This account isn't monitored" : filtered ? "No pool matches" : "No pools yet"}</h2>
      {filtered || !accounts.length ? (
        <Link to={addressOfPools(NO_POOL_FILTERS)}>Show all pools</Link>
      ) : (
        <p>
          {waiting
            ? "Waiting for the first poll."
            : "Pools appear here shortly after they are added to the Batch account."}
        </p>
      )}
    </div>
  );
}

interface Column {
  title: string;
  order?: Order;
  kind?: string;
}

const COLUMNS: Column[] = [
  { title: "Pool", order: "id" },
  { title: "Allocation" },
  { title: "Nodes", order: "nodes", kind: "sizes" },
  { title: "By state", kind: "wide" },
  { title: "Slots used", order: "slots", kind: "number" },
  { title: "Cores busy", order: "cores", kind: "number" },
  { title: COST_HEADING, kind: "number" },
  { title: "Problems", order: "problems", kind: "troubles" },
  { title: "Confidence" },
  { title: "Checked", kind: "number" },
];

interface PoolTableProps {
  pools: Pool[];
  showAccount: boolean;
  filters: PoolFilters;
  unmonitored: UnmonitoredAccounts;
}

function PoolTable({ pools, showAccount, filters, unmonitored }: PoolTableProps) {
  const totals = useCostTotals(accountsOf(pools), "pool");
  return (
    <table role="table" data-testid="pools">
      <thead role="rowgroup">
        <tr role="row">
          {COLUMNS.map(({ title, order, kind }) => (
            <ColumnHeader key={title} kind={kind} order={order && columnOrder(order, filters)}>
              {title}
            </ColumnHeader>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {pools.map((pool) => (
          <PoolRow
            key={`${pool.account} ${pool.id} ${pool.creationTime}`}
            pool={pool}
            showAccount={showAccount}
            unmonitored={unmonitored}
            total={totalOf(totals, pool.account, pool.id)}
          />
        ))}
      </tbody>
    </table>
  );
}

/** Ids are in ascending order; numbers and problems in descending order, so that the greatest come first. */
function columnOrder(order: Order, filters: PoolFilters): ColumnOrder {
  const direction = order === "id" ? "ascending" : "descending";
  return { direction: filters.order === order ? direction : null, to: addressOfPools({ ...filters, order }) };
}

interface RowProps {
  pool: Pool;
  showAccount: boolean;
  unmonitored: UnmonitoredAccounts;
  total: NamedCost | undefined;
}

function PoolRow({ pool, showAccount, unmonitored, total }: RowProps) {
  const counts = pool.nodeCounts;
  return (
    <tr role="row" data-pool={pool.id} data-account={pool.account}>
      <th role="rowheader" scope="row" class="id">
        <Id text={pool.id} to={addressOfDetail("pools", pool.account, pool.id)} class="open" />
        <RowDetails parts={[showAccount && pool.account, pool.displayName !== pool.id && pool.displayName, vmSizesText(pool)]} />
      </th>
      <td role="cell" class="state" data-pool-state={allocationOf(pool)}>
        {allocationOf(pool)}
      </td>
      <td role="cell" class="sizes">
        <PoolSize dedicated={pool.dedicated} spot={pool.spot} />
      </td>
      <td role="cell" class="wide">
        <NodeBar counts={counts} />
        <small class="states">{counts ? nodeStatesText(counts) || "no nodes" : "not read yet"}</small>
      </td>
      <UsageCell name="slots used" capacity={pool.slots} value={pool.slots?.used} />
      <UsageCell name="cores busy" capacity={pool.cores} value={pool.cores?.busy} unknown={counts && !pool.cores ? capitalized(unknownCoresText(pool.unknownCores)) : undefined} />
      <CostCell total={total} />
      <ProblemCell pool={pool} unmonitored={unmonitored} />
      <td role="cell" class="verdict">
        <VerdictBadge verdict={pool.verdict} />
      </td>
      <td role="cell" class="number age">
        <span class="label">checked </span>
        <Age at={pool.verdict.checkedAt} none="–" />
      </td>
    </tr>
  );
}

function allocationOf(pool: Pool): string {
  return pool.state === "active" ? (pool.allocationState ?? "unknown") : pool.state;
}

interface UsageProps {
  name: string;
  capacity: { total: number } | null;
  value: number | undefined;
  unknown?: string | undefined;
}

function UsageCell({ name, capacity, value, unknown }: UsageProps) {
  return (
    <td
      role="cell"
      class="number used"
      data-used={name}
      title={unknown}
    >
      <span class="label">{capitalized(name)}</span>
      {capacity && value !== undefined ? (
        <>
          {formatRate(value)} <small>of {formatCount(capacity.total)}</small>
        </>
      ) : (
        <span class="zero">–</span>
      )}
    </td>
  );
}

/** The first problems, with Batch's messages as tooltips. The pool's page lists all of them. */
function ProblemCell({ pool, unmonitored }: { pool: Pool; unmonitored: UnmonitoredAccounts }) {
  const problems = problemsOf(pool, unmonitored);
  const rest = problems.length - MAX_PROBLEMS;
  return (
    <td role="cell" class="troubles" data-empty={!problems.length}>
      {problems.slice(0, MAX_PROBLEMS).map(({ text, detail, stale, at }, index) => (
        <p key={index} class={stale ? "soft" : "bad"} title={visible(detail)}>
          <ExternalText text={text} />
          {stale && (
            <small>
              {" "}
              last reported <Age at={at} />
            </small>
          )}
        </p>
      ))}
      {rest > 0 && <p class="soft">and {formatCount(rest)} more</p>}
      {!problems.length && <span class="zero">–</span>}
    </td>
  );
}
