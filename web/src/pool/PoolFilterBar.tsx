// Which pools are shown: those with problems, by state, by what their resize does, by the beginning of their id.

import { Link } from "../Link";
import { begun, count } from "../words";
import { addressOfPools, passes, type PoolFilters } from "./filters";
import type { Pool } from "./model";
import type { Off } from "./trouble";

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
  const choices: { name: string; change: Partial<PoolFilters>; chosen: boolean; always?: boolean }[] = [
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
  const number = (change: Partial<PoolFilters>, chosen: boolean) =>
    pools?.filter((pool) => passes(pool, chosen ? filters : { ...filters, ...change }, off)).length;
  return (
    <form class="filters" role="search" aria-label="Filter the pools" onSubmit={(event) => event.preventDefault()}>
      <div class="choices" role="group" aria-label="State">
        {choices.map(({ name, change, chosen, always }) => {
          const found = number(change, chosen);
          if (!found && !chosen && !always) return null;
          return (
            <Link key={name} to={addressOfPools({ ...filters, ...change })} current={chosen}>
              {begun(name)} <span class="much">{found === undefined ? "" : count(found)}</span>
            </Link>
          );
        })}
      </div>
      <input
        type="search"
        name="prefix"
        aria-label="Id begins with"
        placeholder="Id begins with…"
        autocomplete="off"
        spellcheck={false}
        value={filters.prefix}
        onInput={(event) => choose({ prefix: event.currentTarget.value })}
      />
    </form>
  );
}
