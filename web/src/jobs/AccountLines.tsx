// Lines on an account's tile about its pools and schedules: links, sums, and the reason if they are unknown or old.

import type { Account } from "../api/model.ts";
import { plural, statesText } from "../format/numbers.ts";
import { accountNodesText } from "../nodes/summaries.ts";
import { Link } from "../routing/Link.tsx";
import { addressOfList } from "../routing/routes.ts";
import { Age } from "../ui/text/Age.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";

/** Jobs and pools are polled at different times, so their as-of may differ by an interval. */
const INTERVALS_APART = 2;

/** The sums of the account's pools in a sentence, with a link to them. */
export function PoolsLine({ account }: { account: Account }) {
  const { id, pools, poolsReason: reason } = account;
  if (!pools && !reason) return null;
  return (
    <p class="pools-line" data-testid="pools-line">
      {pools ? (
        <>
          <Link to={addressOfList("pools", { account: id })}>{plural(pools.total, "pool")}</Link>,{" "}
          {accountNodesText(account)}
          <OwnAsOf account={account} at={pools.asOf} />
        </>
      ) : (
        "Pools unavailable"
      )}
      <Reason text={reason} known={pools !== null} />
    </p>
  );
}

export function SchedulesLine({ account }: { account: Account }) {
  const { id, schedules, schedulesReason: reason } = account;
  if (!schedules?.total && !reason) return null;
  return (
    <p class="pools-line" data-testid="schedules-line">
      {schedules ? (
        <>
          <Link to={addressOfList("schedules", { account: id })}>{plural(schedules.total, "job schedule")}</Link>
          {schedules.total > 0 && `, ${statesText(schedules.byState)}`}
          <OwnAsOf account={account} at={schedules.asOf} />
        </>
      ) : (
        "Job schedules unavailable"
      )}
      <Reason text={reason} known={schedules !== null} />
    </p>
  );
}

/** Their own as-of, if it differs from that of the tile. */
function OwnAsOf({ account: { lastRound, pollSeconds }, at }: { account: Account; at: string | null }) {
  const apart = Math.abs(Date.parse(lastRound?.asOf ?? "") - Date.parse(at ?? ""));
  if (!at || apart <= INTERVALS_APART * pollSeconds * 1000) return null;
  return (
    <>
      , as of <Age at={at} />
    </>
  );
}

/** The reason why the data is unknown or old. */
function Reason({ text, known }: { text: string | null; known: boolean }) {
  if (!text) return null;
  return (
    <span class="bad">
      {known ? ". The last poll failed: " : ": "}
      <ExternalText text={text} />
    </span>
  );
}
