// Which events are shown: of a kind, of a job, a task, a pool, a node, of a time.

import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { begun } from "../format/text.ts";
import { Link, Navigation } from "../routing/Link.tsx";
import { addressOfEvents, type EventFilters, isFiltered, localOf, timeOf } from "./filters.ts";
import { KINDS } from "./model.ts";

const TYPING_RESTS_MS = 250;
const IDS = ["job", "task", "pool", "node"] as const;
const TIMES = ["from", "to"] as const;

interface FilterBarProps {
  filters: EventFilters;
  /** Kinds that were seen, beside those that are known. */
  seen: string[];
}

export function EventFilterBar({ filters, seen }: FilterBarProps) {
  const navigate = useContext(Navigation);
  const choose = (change: Partial<EventFilters>) => navigate(addressOfEvents({ ...filters, ...change }), "replace");
  const kinds = [...new Set([...KINDS, ...seen, ...(filters.kind ? [filters.kind] : [])])];
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
        <IdField key={name} name={name} asked={filters[name]} choose={(id) => choose({ [name]: id })} />
      ))}
      {TIMES.map((name) => (
        <TimeField key={name} name={name} asked={filters[name]} choose={(time) => choose({ [name]: time })} />
      ))}
      {isFiltered(filters) && <Link to={addressOfEvents({ account: filters.account })}>Show all events</Link>}
    </form>
  );
}

interface FieldProps {
  name: string;
  asked: string;
  choose: (value: string) => void;
}

/** Asks once typing rests; follows the address when that changes by itself. */
function IdField({ name, asked, choose }: FieldProps) {
  const [draft, setDraft] = useState(asked);
  const timer = useRef<number>(undefined);
  const latest = useRef(choose);
  latest.current = choose;
  useEffect(() => setDraft(asked), [asked]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const type = (text: string) => {
    setDraft(text);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => latest.current(text.trim()), TYPING_RESTS_MS);
  };
  return (
    <input
      type="search"
      name={name}
      aria-label={`${begun(name)} id`}
      placeholder={`${begun(name)} id…`}
      autocomplete="off"
      spellcheck={false}
      value={draft}
      onInput={(event) => type(event.currentTarget.value)}
    />
  );
}

/** A year that is being typed is none yet, so what is out of bounds isn't asked for. */
function TimeField({ name, asked, choose }: FieldProps) {
  return (
    <label class="time">
      <span class="capital">{name}</span>
      <input
        type="datetime-local"
        name={name}
        min="1970-01-02T00:00"
        max="9999-12-31T00:00"
        value={localOf(asked)}
        onChange={({ currentTarget: { validity, value } }) => validity.valid && choose(timeOf(value))}
      />
    </label>
  );
}
