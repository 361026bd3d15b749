// Filters of the list of schedules, kept in the page's address.

import { addressOfList } from "../routing/routes.ts";
import type { Schedule } from "./model.ts";

/** "" stands for all; `missed` is "yes" for only schedules with missed runs. */
export interface ScheduleFilters {
  account: string;
  state: string;
  missed: string;
  prefix: string;
}

export const NO_SCHEDULE_FILTERS: ScheduleFilters = { account: "", state: "", missed: "", prefix: "" };

export function readScheduleFilters(): ScheduleFilters {
  const query = new URLSearchParams(location.search);
  const parameter = (name: string) => query.get(name) ?? "";
  return {
    account: parameter("account"),
    state: parameter("state"),
    missed: parameter("missed"),
    prefix: parameter("prefix"),
  };
}

export function addressOfSchedules(filters: ScheduleFilters): string {
  return addressOfList("schedules", { ...filters });
}

/** Whether a schedule passes every filter. */
export function passes(schedule: Schedule, filters: ScheduleFilters): boolean {
  return (
    (!filters.account || schedule.account === filters.account) &&
    (!filters.state || schedule.state === filters.state) &&
    (!filters.missed || Boolean(schedule.missedRuns.count)) &&
    schedule.id.toLowerCase().startsWith(filters.prefix.toLowerCase())
  );
}
