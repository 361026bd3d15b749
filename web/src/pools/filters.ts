// Filters and order of the list of pools, kept in the page's address.

import type { Pool } from "../pool/model.ts";
import { hasProblems, ORDERS, type Order, type UnmonitoredAccounts } from "../pool/problems.ts";
import { addressOfList } from "../routing/routes.ts";

/** "" stands for all; `problems` is "yes" for only pools with problems. */
export interface PoolFilters {
  account: string;
  state: string;
  allocationState: string;
  problems: string;
  prefix: string;
  order: Order;
}

export const NO_POOL_FILTERS: PoolFilters = {
  account: "",
  state: "",
  allocationState: "",
  problems: "",
  prefix: "",
  order: "problems",
};

export function readPoolFilters(): PoolFilters {
  const query = new URLSearchParams(location.search);
  const order = ORDERS.find((each) => each === query.get("order")) ?? "problems";
  const parameter = (name: string) => query.get(name) ?? "";
  return {
    account: parameter("account"),
    state: parameter("state"),
    allocationState: parameter("allocationState"),
    problems: parameter("problems"),
    prefix: parameter("prefix"),
    order,
  };
}

export function addressOfPools(filters: PoolFilters): string {
  return addressOfList("pools", { ...filters, order: filters.order === "problems" ? "" : filters.order });
}

/** Whether a pool passes every filter. */
export function passes(pool: Pool, filters: PoolFilters, unmonitored: UnmonitoredAccounts): boolean {
  return (
    (!filters.account || pool.account === filters.account) &&
    (!filters.state || pool.state === filters.state) &&
    (!filters.allocationState || pool.allocationState === filters.allocationState) &&
    pool.id.toLowerCase().startsWith(filters.prefix.toLowerCase()) &&
    (!filters.problems || hasProblems(pool, unmonitored))
  );
}
