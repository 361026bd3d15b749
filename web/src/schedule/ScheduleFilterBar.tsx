// Filters of the list of schedules: missed runs, state, beginning of the id.

import { type FilterChoice, ListFilterBar } from "../ui/list/ListFilterBar.tsx";
import { addressOfSchedules, passes, type ScheduleFilters } from "./filters.ts";
import type { Schedule } from "./model.ts";

interface FilterBarProps {
  /** Null while they load. */
  schedules: Schedule[] | null;
  filters: ScheduleFilters;
  choose: (change: Partial<ScheduleFilters>) => void;
}

const STATES = ["active", "disabled", "terminating", "deleting", "completed"];

export function ScheduleFilterBar({ schedules, filters, choose }: FilterBarProps) {
  const { state, missed } = filters;
  const choices: FilterChoice<ScheduleFilters>[] = [
    { name: "all", change: { state: "", missed: "" }, chosen: !state && !missed, always: true },
    { name: "with missed runs", change: { missed: missed ? "" : "yes" }, chosen: Boolean(missed), always: true },
    ...STATES.map((each) => ({
      name: each,
      change: { state: state === each ? "" : each },
      chosen: state === each,
    })),
  ];
  return (
    <ListFilterBar
      label="Filter schedules"
      choices={choices}
      filters={filters}
      address={addressOfSchedules}
      count={(changed) => schedules?.filter((schedule) => passes(schedule, changed)).length}
      choose={choose}
    />
  );
}
