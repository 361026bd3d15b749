// Which entries of a list are shown: by choices, each with how many it would leave, and by the beginning of their id.

import { count } from "../../format/numbers.ts";
import { begun } from "../../format/text.ts";
import { Link } from "../../routing/Link.tsx";
import { PrefixInput } from "./PrefixInput.tsx";

export interface Choice<Filters> {
  name: string;
  change: Partial<Filters>;
  chosen: boolean;
  /** Offered even where it leaves nothing. */
  always?: boolean;
}

interface ChoiceBarProps<Filters> {
  label: string;
  choices: Choice<Filters>[];
  filters: Filters;
  address: (filters: Filters) => string;
  /** How many entries pass these filters; undefined while they are read. */
  number: (filters: Filters) => number | undefined;
  choose: (change: { prefix: string }) => void;
}

export function ChoiceBar<Filters extends { prefix: string }>(props: ChoiceBarProps<Filters>) {
  const { label, choices, filters, address, number, choose } = props;
  return (
    <form class="filters" role="search" aria-label={label} onSubmit={(event) => event.preventDefault()}>
      <div class="choices" role="group" aria-label="State">
        {choices.map(({ name, change, chosen, always }) => {
          const found = number(chosen ? filters : { ...filters, ...change });
          if (!found && !chosen && !always) return null;
          return (
            <Link key={name} to={address({ ...filters, ...change })} current={chosen}>
              {begun(name)} <span class="much">{found === undefined ? "" : count(found)}</span>
            </Link>
          );
        })}
      </div>
      <PrefixInput value={filters.prefix} type={(prefix) => choose({ prefix })} />
    </form>
  );
}
