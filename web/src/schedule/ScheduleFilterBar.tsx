// Which schedules are shown: by state, those that missed runs, by the beginning of their id.

import { type Choice, ChoiceBar } from "../ui/list/ChoiceBar.tsx";
import { addressOfSchedules, passes, type ScheduleFilters } from "./filters.ts";
import type { Schedule } from "./model.ts";

interface FilterBarProps {
  /** Null while they are read. */
  schedules: Schedule[] | null;
  filters: ScheduleFilters;
  choose: (change: Partial<ScheduleFilters>) => void;
}

const STATES = ["active", "disabled", "terminating", "deleting", "completed"];

export function ScheduleFilterBar({ schedules, filters, choose }: FilterBarProps) {
  const { state, missed } = filters;
  const choices: Choice<ScheduleFilters>[] = [
    { name: "all", change: { state: "", missed: "" }, chosen: !state && !missed, always: true },
    { name: "with missed runs", change: { missed: missed ? "" : "yes" }, chosen: Boolean(missed), always: true },
    ...STATES.map((each) => ({
      name: each,
      change: { state: state === each ? "" : each },
      chosen: state === each,
    })),
  ];
  return (
    <ChoiceBar
      label="Filter schedules"
      choices={choices}
      filters={filters}
      address={addressOfSchedules}
      number={(asked) => schedules?.filter((schedule) => passes(schedule, asked)).length}
      choose={choose}
    />
  );
}
