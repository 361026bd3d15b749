// The page of an account's costs: waste first, then by day and by group, and what has no price.

import { useEffect } from "preact/hooks";
import type { Account, Page } from "../api/model.ts";
import { pathOfAccount } from "../api/paths.ts";
import { type Polled, usePolled } from "../api/usePolled.ts";
import { CsvButton } from "../export/CsvButton.tsx";
import { addressOfList } from "../routing/routes.ts";
import { serverClock } from "../time/clock.ts";
import { NotFound } from "../ui/page/DetailPage.tsx";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";
import { NoAccount } from "../ui/page/NoAccount.tsx";
import { PolledContents } from "../ui/page/PolledContents.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { TitledCard } from "../ui/page/TitledCard.tsx";
import { barsOf, type CostBars } from "./amounts/bars.ts";
import { dailyBudget } from "./amounts/budgets.ts";
import { wordsOf } from "./amounts/groups.ts";
import type { AccountCost, CostSummary } from "./amounts/model.ts";
import type { Micros } from "./amounts/money.ts";
import { BudgetList } from "./BudgetList.tsx";
import { CorePanel } from "./CorePanel.tsx";
import { CostControls } from "./CostControls.tsx";
import { CostPanel } from "./CostPanel.tsx";
import { CostTile } from "./CostTile.tsx";
import { pathOfCost, readCostView } from "./costView.ts";
import { EfficiencyCard } from "./efficiency/EfficiencyCard.tsx";
import { GroupTable } from "./GroupTable.tsx";
import { UnpricedList } from "./UnpricedList.tsx";
import { WasteFindings } from "./WasteFindings.tsx";
import { WasteList } from "./WasteList.tsx";

const INTERVAL_MS = 60_000;

export function CostPage() {
  const view = readCostView();
  const accounts = usePolled<Page<Account>>({ path: "/api/accounts", intervalMs: INTERVAL_MS });
  const known = accounts.value?.value ?? [];
  const account = view.account || (known[0]?.id ?? "");
  const path = pathOfCost(account, view);
  const queryKey = JSON.stringify([account, view]);
  const cost = usePolled<AccountCost>({ path, queryKey, intervalMs: INTERVAL_MS, enabled: account !== "" });
  useEffect(() => {
    document.title = "Cost · Batchscope";
  }, []);
  const shown = account ? cost : accounts;
  return (
    <Shell tab="cost" account={view.account} result={shown} showsErrors={account !== ""} retry={shown.retry}>
      <CostControls view={{ ...view, account }} accounts={known.map(({ id }) => id)} labels={cost.value?.labels ?? []}>
        {account && <CsvButton href={`${path}&format=csv`} file={`${account}-cost.csv`} noun="costs" several={false} about={null} />}
      </CostControls>
      {account ? <Costs polled={cost} /> : <NoAccount accounts={accounts} />}
    </Shell>
  );
}

function Costs({ polled }: { polled: Polled<AccountCost> }) {
  const { value, failure } = polled;
  if (failure?.status === 404 && !value)
    return <NotFound name="account" failure={failure} back={addressOfList("cost", {})} />;
  return (
    <PolledContents polled={polled} name="cost" title="Cost">
      {(cost) => <CostContents cost={cost} />}
    </PolledContents>
  );
}

function CostContents({ cost }: { cost: AccountCost }) {
  const summary = usePolled<CostSummary>({ path: pathOfAccount(cost.account, "cost/summary"), intervalMs: INTERVAL_MS });
  const bars = barsOf(cost);
  const known = summary.fresh ? summary.value : null;
  const budgets = known?.budgets ?? [];
  return (
    <>
      <CostTile cost={cost} days={bars.days} summary={known} />
      {(summary.failure || budgets.length > 0) && (
        <TitledCard title={summary.failure ? "Month and budgets" : "Budgets"} name="budgets">
          {summary.failure && (
            <ErrorNotice
              failure={summary.failure}
              retry={summary.retry}
              name="summary"
              subject="month and budgets"
              hasOlderData={known !== null}
            />
          )}
          {budgets.length > 0 && <BudgetList budgets={budgets} />}
        </TitledCard>
      )}
      {bars.days.every(({ isMissing }) => isMissing) ? (
        <NothingStored />
      ) : (
        <Parts cost={cost} bars={bars} budget={dailyBudget(budgets, cost.currency, serverClock.now())} />
      )}
    </>
  );
}

function NothingStored() {
  return (
    <p class="empty" data-testid="no-usage">
      No usage is stored for this range. It is rolled up every hour from the nodes and tasks that polls saw.
    </p>
  );
}

interface PartsProps {
  cost: AccountCost;
  bars: CostBars;
  /** The account's budget for a day. */
  budget: Micros | null;
}

function Parts({ cost, bars, budget }: PartsProps) {
  const { noun } = wordsOf(cost.groupBy);
  return (
    <>
      <TitledCard title="Wasted" name="waste">
        <h4 class="waste-part">Possible savings</h4>
        <WasteFindings account={cost.account} />
        <h4 class="waste-part">
          By class <small>in this range</small>
        </h4>
        <WasteList cost={cost} />
      </TitledCard>
      <TitledCard title={`By day and ${noun}`} name="cost-by-day">
        <CostPanel bars={bars} currency={cost.currency} budget={budget} />
      </TitledCard>
      <TitledCard title={`By ${noun}`} name="cost-by-group">
        <GroupTable cost={cost} />
      </TitledCard>
      <EfficiencyCard account={cost.account} groupBy={cost.groupBy} from={cost.from} />
      <TitledCard title="Cores by day" name="cost-cores">
        <CorePanel cost={cost} />
      </TitledCard>
      {cost.unpriced.length > 0 && (
        <TitledCard title="Without a price" name="cost-unpriced">
          <UnpricedList unpriced={cost.unpriced} />
        </TitledCard>
      )}
    </>
  );
}
