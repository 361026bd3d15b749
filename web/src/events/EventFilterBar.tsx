// Filters of events: kind, job, task, pool, node, time.

import { useContext } from "preact/hooks";
import { capitalized } from "../format/text.ts";
import { Link, Navigation } from "../routing/Link.tsx";
import { useDraft } from "../ui/list/useDraft.ts";
import { addressOfEvents, type EventFilters, isFiltered, localInputTime, utcTime } from "./filters.ts";
import { EVENT_KINDS } from "./model.ts";

const IDS = ["job", "task", "pool", "node"] as const;
const TIMES = ["from", "to"] as const;

interface FilterBarProps {
  filters: EventFilters;
  /** Kinds of the loaded events, offered besides the known ones. */
  loadedKinds: string[];
}

export function EventFilterBar({ filters, loadedKinds }: FilterBarProps) {
  const navigate = useContext(Navigation);
  const choose = (change: Partial<EventFilters>) => navigate(addressOfEvents({ ...filters, ...change }), "replace");
  const kinds = [...new Set([...EVENT_KINDS, ...loadedKinds, ...(filters.kind ? [filters.kind] : [])])];
  return (
    <form
      class="filters of-events"
      role="search"
      aria-label="Filter events"
      onSubmit={(event) => event.preventDefault()}
    >
      <select aria-label="Kind" value={filters.kind} onChange={(event) => choose({ kind: event.currentTarget.value })}>
        <option value="">All kinds</option>
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {kind}
          </option>
        ))}
      </select>
      {IDS.map((name) => (
        <IdField key={name} name={name} value={filters[name]} choose={(id) => choose({ [name]: id })} />
      ))}
      {TIMES.map((name) => (
        <TimeField key={name} name={name} value={filters[name]} choose={(time) => choose({ [name]: time })} />
      ))}
      {isFiltered(filters) && <Link to={addressOfEvents({ account: filters.account })}>Show all events</Link>}
    </form>
  );
}

interface FieldProps {
  name: string;
  value: string;
  choose: (value: string) => void;
}

function IdField({ name, value, choose }: FieldProps) {
  const [draft, onInput] = useDraft(value, choose);
  return (
    <input
      type="search"
      name={name}
      aria-label={`${capitalized(name)} id`}
      placeholder={`${capitalized(name)} id…`}
      autocomplete="off"
      spellcheck={false}
      value={draft}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

/** Ignores times out of bounds, such as an incomplete year. */
function TimeField({ name, value, choose }: FieldProps) {
  return (
    <label class="time">
      <span class="capital">{name}</span>
      <input
        type="datetime-local"
        name={name}
        min="1970-01-02T00:00"
        max="9999-12-31T00:00"
        value={localInputTime(value)}
        onChange={({ currentTarget: input }) => input.validity.valid && choose(utcTime(input.value))}
      />
    </label>
  );
}
