// What the cost page shows, as its address says.

import { pathOfAccount } from "../api/paths.ts";
import { addressOfList } from "../routing/routes.ts";
import { serverClock } from "../time/clock.ts";
import { GROUPINGS, type Grouping, hasShares, isLabel, SHARINGS, type Sharing } from "./amounts/model.ts";

const DAY = 86_400_000;

/** Days of a range, today included. */
export const RANGES = [7, 30, 90] as const;
export type RangeDays = (typeof RANGES)[number];

export interface CostView {
  /** "" for the first account. */
  account: string;
  groupBy: Grouping;
  days: RangeDays;
  sharing: Sharing;
}

const DEFAULTS = { groupBy: "pool", days: 30, sharing: "proportional" } as const;

export function readCostView(): CostView {
  const query = new URLSearchParams(location.search);
  return {
    account: query.get("account") ?? "",
    groupBy: groupingOf(query.get("groupBy") ?? ""),
    days: RANGES.find((each) => `${each}d` === query.get("range")) ?? DEFAULTS.days,
    sharing: SHARINGS.find((each) => each === query.get("sharing")) ?? DEFAULTS.sharing,
  };
}

/** A text as a grouping; the default for any other text. */
export function groupingOf(text: string): Grouping {
  return isLabel(text) ? text : (GROUPINGS.find((each) => each === text) ?? DEFAULTS.groupBy);
}

/** The address of a view, without defaults and without a sharing that changes nothing. */
export function addressOfCost({ account, groupBy, days, sharing }: CostView): string {
  return addressOfList("cost", {
    account,
    groupBy: groupBy === DEFAULTS.groupBy ? "" : groupBy,
    range: days === DEFAULTS.days ? "" : `${days}d`,
    sharing: sharing === DEFAULTS.sharing || !hasShares(groupBy) ? "" : sharing,
  });
}

/** The API's path of an account's costs, from the start of the range's first day (UTC). */
export function pathOfCost(account: string, { groupBy, days, sharing }: CostView): string {
  const first = (Math.floor(serverClock.now() / DAY) - days + 1) * DAY;
  const query = new URLSearchParams({ from: new Date(first).toISOString().replace(".000Z", "Z"), groupBy });
  if (hasShares(groupBy)) query.set("sharing", sharing);
  return `${pathOfAccount(account, "cost")}?${query}`;
}
