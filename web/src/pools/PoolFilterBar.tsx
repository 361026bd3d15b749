// Filters of the list of pools: problems, state, allocation state, beginning of the id.

import type { Pool } from "../pool/model.ts";
import type { UnmonitoredAccounts } from "../pool/problems.ts";
import { type FilterChoice, ListFilterBar } from "../ui/list/ListFilterBar.tsx";
import { addressOfPools, type PoolFilters, passes } from "./filters.ts";

interface FilterBarProps {
  /** Null while they load. */
  pools: Pool[] | null;
  filters: PoolFilters;
  unmonitored: UnmonitoredAccounts;
  choose: (change: Partial<PoolFilters>) => void;
}

const ALL = { state: "", allocationState: "", problems: "" };
const ALLOCATION = ["resizing", "stopping", "steady"];
const STATES = ["active", "deleting"];

export function PoolFilterBar({ pools, filters, unmonitored, choose }: FilterBarProps) {
  const { state, allocationState, problems } = filters;
  const choices: FilterChoice<PoolFilters>[] = [
    { name: "all", change: ALL, chosen: !state && !allocationState && !problems, always: true },
    { name: "with problems", change: { problems: problems ? "" : "yes" }, chosen: Boolean(problems), always: true },
    ...STATES.map((each) => ({
      name: each,
      change: { state: state === each ? "" : each },
      chosen: state === each,
    })),
    ...ALLOCATION.map((each) => ({
      name: each,
      change: { allocationState: allocationState === each ? "" : each },
      chosen: allocationState === each,
    })),
  ];
  return (
    <ListFilterBar
      label="Filter pools"
      choices={choices}
      filters={filters}
      address={addressOfPools}
      count={(changed) => pools?.filter((pool) => passes(pool, changed, unmonitored)).length}
      choose={choose}
    />
  );
}
