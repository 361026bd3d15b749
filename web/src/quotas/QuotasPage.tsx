// The page of an account's quotas: what is nearly used up, then each with its limit, use, and when it will be reached.

import { useEffect } from "preact/hooks";
import type { Account, Page } from "../api/model.ts";
import { pathOfAccount } from "../api/paths.ts";
import { type Polled, usePolled } from "../api/usePolled.ts";
import { CsvButton } from "../export/CsvButton.tsx";
import { visible } from "../format/text.ts";
import { addressOfList, readRoute } from "../routing/routes.ts";
import { FindingDetails } from "../ui/findings/FindingDetails.tsx";
import { AccountSelect } from "../ui/list/AccountSelect.tsx";
import { NotFound } from "../ui/page/DetailPage.tsx";
import { NoAccount } from "../ui/page/NoAccount.tsx";
import { PolledContents } from "../ui/page/PolledContents.tsx";
import { Shell } from "../ui/page/Shell.tsx";
import { TitledCard } from "../ui/page/TitledCard.tsx";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { AccountQuotas } from "./model.ts";
import { QuotaTable } from "./QuotaTable.tsx";
import { sharedReason, unknownNodesText } from "./texts.ts";

const INTERVAL_MS = 60_000;

export function QuotasPage() {
  const { account: chosen } = readRoute();
  const accounts = usePolled<Page<Account>>({ path: "/api/accounts", intervalMs: INTERVAL_MS });
  const known = accounts.value?.value ?? [];
  const account = chosen || (known[0]?.id ?? "");
  const path = pathOf(account);
  const quotas = usePolled<AccountQuotas>({ path, intervalMs: INTERVAL_MS, enabled: account !== "" });
  useEffect(() => {
    document.title = "Quotas · Batchscope";
  }, []);
  const shown = account ? quotas : accounts;
  return (
    <Shell tab="quotas" account={chosen} result={shown} showsErrors={account !== ""} retry={shown.retry}>
      <div class="cost-controls">
        <AccountSelect
          account={account}
          accounts={known.map(({ id }) => id)}
          addressOf={(id) => addressOfList("quotas", { account: id })}
        />
      </div>
      {account ? <Quotas polled={quotas} /> : <NoAccount accounts={accounts} />}
    </Shell>
  );
}

function pathOf(account: string): string {
  return pathOfAccount(account, "quotas");
}

function Quotas({ polled }: { polled: Polled<AccountQuotas> }) {
  const { value, failure } = polled;
  if (failure?.status === 404 && !value)
    return <NotFound name="account" failure={failure} back={addressOfList("quotas", {})} />;
  return (
    <PolledContents polled={polled} name="quotas" title="Quotas">
      {(quotas) => <QuotaContents quotas={quotas} />}
    </PolledContents>
  );
}

function QuotaContents({ quotas }: { quotas: AccountQuotas }) {
  const { account, asOf, problem, value, findings } = quotas;
  const reason = sharedReason(quotas);
  const path = pathOf(account);
  return (
    <>
      {findings.length > 0 && (
        <TitledCard title="Nearly used up" name="quota-findings">
          <div class="quota-findings">
            {findings.map((finding) => (
              <FindingDetails key={finding.title + finding.detail} account={account} finding={finding} open={findings.length === 1} />
            ))}
          </div>
        </TitledCard>
      )}
      <TitledCard
        title={`Quotas of ${visible(account)}`}
        name="quotas"
        note={asOf ? <>limits as of <Age at={asOf} /></> : "no limits read"}
        actions={<CsvButton href={`${path}?format=csv`} file={`${account}-quotas.csv`} noun="quotas" several={false} about={null} />}
      >
        {problem && (
          <p class="quota-note bad" data-testid="quota-problem">
            <ExternalText text={problem} />
          </p>
        )}
        {reason && (
          <p class="quota-note" data-testid="quota-reason">
            No limit is known: <ExternalText text={reason} />
          </p>
        )}
        <QuotaTable quotas={value} showsReasons={!reason} />
        <p class="quota-note">
          {unknownNodesText(quotas)} When a limit is reached is estimated from the use of the last days: at least three,
          in which it grew.
        </p>
      </TitledCard>
    </>
  );
}
