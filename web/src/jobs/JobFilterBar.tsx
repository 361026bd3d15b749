// Filters of the list of jobs: state, pool, beginning of the id.

import type { Account } from "../api/model.ts";
import { formatCount } from "../format/numbers.ts";
import { PrefixInput } from "../ui/list/PrefixInput.tsx";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { JobFilters } from "./filters.ts";
import { rankOf } from "./order.ts";

interface FilterBarProps {
  accounts: Account[];
  filters: JobFilters;
  choose: (change: Partial<JobFilters>) => void;
}

export function JobFilterBar({ accounts, filters, choose }: FilterBarProps) {
  const states = stateCounts(accounts, filters);
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
            {state || "all"} <span class="much">{filters.poolId ? "" : formatCount(number)}</span>
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

/** The states of jobs and the chosen state, with numbers of jobs; "" is all jobs. */
function stateCounts(accounts: Account[], filters: JobFilters): [string, number][] {
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
