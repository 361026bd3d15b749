// Which pools are shown: those with problems, by state, by what their resize does, by the beginning of their id.

import type { Pool } from "../pool/model.ts";
import type { Off } from "../pool/trouble.ts";
import { type FilterChoice, ListFilterBar } from "../ui/list/ListFilterBar.tsx";
import { addressOfPools, type PoolFilters, passes } from "./filters.ts";

interface FilterBarProps {
  /** Null while they are read. */
  pools: Pool[] | null;
  filters: PoolFilters;
  off: Off;
  choose: (change: Partial<PoolFilters>) => void;
}

const NOTHING = { state: "", allocationState: "", problems: "" };
const ALLOCATION = ["resizing", "stopping", "steady"];
const STATES = ["active", "deleting"];

export function PoolFilterBar({ pools, filters, off, choose }: FilterBarProps) {
  const { state, allocationState, problems } = filters;
  const choices: FilterChoice<PoolFilters>[] = [
    { name: "all", change: NOTHING, chosen: !state && !allocationState && !problems, always: true },
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
      count={(changed) => pools?.filter((pool) => passes(pool, changed, off)).length}
      choose={choose}
    />
  );
}
