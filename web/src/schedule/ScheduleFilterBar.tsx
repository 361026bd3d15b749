// Which schedules are shown: by state, those that missed runs, by the beginning of their id.

import { Link } from "../Link";
import { begun, count } from "../words";
import { addressOfSchedules, passes, type ScheduleFilters } from "./filters";
import type { Schedule } from "./model";

interface FilterBarProps {
  /** Null while they are read. */
  schedules: Schedule[] | null;
  filters: ScheduleFilters;
  choose: (change: Partial<ScheduleFilters>) => void;
}

const STATES = ["active", "disabled", "terminating", "deleting", "completed"];

export function ScheduleFilterBar({ schedules, filters, choose }: FilterBarProps) {
  const { state, missed } = filters;
  const choices: { name: string; change: Partial<ScheduleFilters>; chosen: boolean; always?: boolean }[] = [
    { name: "all", change: { state: "", missed: "" }, chosen: !state && !missed, always: true },
    { name: "with missed runs", change: { missed: missed ? "" : "yes" }, chosen: Boolean(missed), always: true },
    ...STATES.map((each) => ({
      name: each,
      change: { state: state === each ? "" : each },
      chosen: state === each,
    })),
  ];
  const number = (change: Partial<ScheduleFilters>, chosen: boolean) =>
    schedules?.filter((schedule) => passes(schedule, chosen ? filters : { ...filters, ...change })).length;
  return (
    <form class="filters" role="search" aria-label="Filter the schedules" onSubmit={(event) => event.preventDefault()}>
      <div class="choices" role="group" aria-label="State">
        {choices.map(({ name, change, chosen, always }) => {
          const found = number(change, chosen);
          if (!found && !chosen && !always) return null;
          return (
            <Link key={name} to={addressOfSchedules({ ...filters, ...change })} current={chosen}>
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
