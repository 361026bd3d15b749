// Findings on waste with the money of a month, the dearest first.

import { useState } from "preact/hooks";
import { pathOfAccount } from "../api/paths.ts";
import { usePolled } from "../api/usePolled.ts";
import { plural } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfDetail } from "../routing/routes.ts";
import { FindingDetails } from "../ui/findings/FindingDetails.tsx";
import { ListFooter } from "../ui/list/ListFooter.tsx";
import { PolledContents } from "../ui/page/PolledContents.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Waste, WasteFinding } from "./amounts/model.ts";
import { amountText, hoursText } from "./amounts/texts.ts";

const INTERVAL_MS = 300_000;
const ROWS = 10;
const LOADED = 1000; // the most that one page of the API has

export function WasteFindings({ account }: { account: string }) {
  const polled = usePolled<Waste>({ path: `${pathOfAccount(account, "cost/waste")}?maxpagesize=${LOADED}`, intervalMs: INTERVAL_MS });
  return (
    <PolledContents polled={polled} name="waste-findings" title="What to do">
      {(waste) => <Findings waste={waste} />}
    </PolledContents>
  );
}

function Findings({ waste: { account, currency, days, value, count } }: { waste: Waste }) {
  const [rows, setRows] = useState(ROWS);
  if (!value.length) return <p class="waste-note">{nothingText(days.length)}</p>;
  return (
    <>
      <ol class="waste-findings" data-testid="waste-findings">
        {value.slice(0, rows).map((one) => (
          <li key={`${one.code} ${one.id}`} data-code={one.code}>
            <Sum finding={one} currency={currency} days={days.length} />
            <div>
              <p class="soft">
                {one.scope}{" "}
                <Link to={addressOfDetail(one.scope === "job" ? "jobs" : "pools", account, one.id)}>
                  <ExternalText text={one.id} />
                </Link>
              </p>
              <FindingDetails account={account} finding={one} open={false} />
            </div>
          </li>
        ))}
      </ol>
      <ListFooter
        noun="findings"
        shown={rows}
        all={value.length}
        show={() => setRows(rows + ROWS)}
        more={count > value.length ? "the API lists them page by page" : null}
      />
      {value.length > 1 && (
        <p class="waste-note">Findings overlap, as an idle node may be in several, so their amounts have no sum.</p>
      )}
    </>
  );
}

function nothingText(days: number): string {
  return days ? `Nothing to save was found in the usage of ${plural(days, "day")}.` : "No usage is stored so far.";
}

interface SumProps {
  finding: WasteFinding;
  currency: string;
  days: number;
}

/** The money of a month and that of the days; before three full days only the latter. */
function Sum({ finding: { amount, monthlyAmount, nodeSeconds }, currency, days }: SumProps) {
  const ofDays = `${amountText(amount, currency)} in ${plural(days, "day")}`;
  if (amount === null) return <p class="sum"><b>no price</b> <small>{hoursText(nodeSeconds)}</small></p>;
  if (monthlyAmount === null) return <p class="sum"><b>{amountText(amount, currency)}</b> <small>in {plural(days, "day")}</small></p>;
  return (
    <p class="sum">
      <b>{amountText(monthlyAmount, currency)}</b> <small>a month; {ofDays}</small>
    </p>
  );
}
