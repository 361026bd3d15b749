// Filters of a list: choices, each with the number of entries that it leaves, and the beginning of ids.

import { formatCount } from "../../format/numbers.ts";
import { capitalized } from "../../format/text.ts";
import { Link } from "../../routing/Link.tsx";
import { PrefixInput } from "./PrefixInput.tsx";

export interface FilterChoice<Filters> {
  name: string;
  change: Partial<Filters>;
  chosen: boolean;
  /** Offered even if it leaves no entries. */
  always?: boolean;
}

interface ListFilterBarProps<Filters> {
  label: string;
  choices: FilterChoice<Filters>[];
  filters: Filters;
  address: (filters: Filters) => string;
  /** The number of entries that pass these filters; undefined while the list loads. */
  count: (filters: Filters) => number | undefined;
  choose: (change: { prefix: string }) => void;
}

export function ListFilterBar<Filters extends { prefix: string }>(props: ListFilterBarProps<Filters>) {
  const { label, choices, filters, address, count, choose } = props;
  return (
    <form class="filters" role="search" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      <div class="choices" role="group" aria-label="State">
        {choices.map(({ name, change, chosen, always }) => {
          const found = count(chosen ? filters : { ...filters, ...change });
          if (!found && !chosen && !always) return null;
          return (
            <Link key={name} to={address({ ...filters, ...change })} current={chosen}>
              {capitalized(name)} <span class="much">{found === undefined ? "" : formatCount(found)}</span>
            </Link>
          );
        })}
      </div>
      <PrefixInput value={filters.prefix} onInput={(prefix) => choose({ prefix })} />
    </form>
  );
}
