// Which jobs are shown: by state, by their pool, and by the beginning of their id.

import type { Account } from "../api/model.ts";
import { count } from "../format/numbers.ts";
import { PrefixInput } from "../ui/list/PrefixInput.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { Filters } from "./filters.ts";
import { rankOf } from "./order.ts";

interface FilterBarProps {
  accounts: Account[];
  filters: Filters;
  choose: (change: Partial<Filters>) => void;
}

export function FilterBar({ accounts, filters, choose }: FilterBarProps) {
  const states = statesOf(accounts, filters);
  return (
    <form class="filters" role="search" aria-label="Filter jobs" onSubmit={(event) => event.preventDefault()}>
      <div class="choices capital" role="group" aria-label="State">
        {states.map(([state, number]) => (
          <button
            key={state}
            type="button"
            aria-pressed={filters.state === state}
            onClick={() => choose({ state })}
            data-filter-state={state || "all"}
          >
            {state || "all"} <span class="much">{filters.poolId ? "" : count(number)}</span>
          </button>
        ))}
        {filters.poolId && (
          <button type="button" class="of-pool" aria-pressed="true" onClick={() => choose({ poolId: "" })}>
            <span>
              pool <ExternalText text={filters.poolId} />
            </span>{" "}
            <span aria-hidden="true">×</span>
            <span class="unseen">: show jobs of all pools</span>
          </button>
        )}
      </div>
      <PrefixInput value={filters.prefix} onInput={(prefix) => choose({ prefix })} />
    </form>
  );
}

/** The states that there are, and the one asked for, with numbers of jobs; "" is all of them. */
function statesOf(accounts: Account[], filters: Filters): [string, number][] {
  const numbers = new Map<string, number>();
  if (filters.state) numbers.set(filters.state, 0);
  for (const account of accounts) {
    if (filters.account && account.id !== filters.account) continue;
    for (const [state, number] of Object.entries(account.jobs)) {
      if (number || state === filters.state) numbers.set(state, (numbers.get(state) ?? 0) + number);
    }
  }
  const all = [...numbers.values()].reduce((sum, number) => sum + number, 0);
  return [["", all], ...[...numbers].sort(([one], [other]) => rankOf(one) - rankOf(other))];
}
