// Filters of events, kept in the page's address so that a view can be shared and reloaded.

import { pathOfAccount } from "../api/paths.ts";
import { addressOfList } from "../routing/routes.ts";

/** "" stands for all; `from` (inclusive) and `to` (exclusive) are times with a zone. */
export interface EventFilters {
  account: string;
  kind: string;
  job: string;
  task: string;
  pool: string;
  node: string;
  from: string;
  to: string;
}

export const NO_EVENT_FILTERS: EventFilters = {
  account: "",
  kind: "",
  job: "",
  task: "",
  pool: "",
  node: "",
  from: "",
  to: "",
};
const ROWS_OF_PAGE = 50;
/** The server's limit of rows per CSV response. */
export const ROWS_OF_CSV = 1000;

export function readEventFilters(): EventFilters {
  const query = new URLSearchParams(location.search);
  const keys = Object.keys(NO_EVENT_FILTERS) as (keyof EventFilters)[];
  return Object.fromEntries(keys.map((key) => [key, query.get(key) ?? ""])) as unknown as EventFilters;
}

export function addressOfEvents(filters: Partial<EventFilters>): string {
  return addressOfList("events", { ...filters });
}

export function isFiltered({ account: _, ...others }: EventFilters): boolean {
  return Object.values(others).some(Boolean);
}

/** `rows` is the number of rows per page. */
interface PathOptions {
  format?: "json" | "csv";
  rows?: number;
}

/** The API's path of a list of events, as pages of JSON or as CSV. */
export function pathOfEvents(
  { account, ...others }: Partial<EventFilters> & { account: string },
  { format = "json", rows = format === "csv" ? ROWS_OF_CSV : ROWS_OF_PAGE }: PathOptions = {},
): string {
  const query = new URLSearchParams({ ...(format === "csv" && { format }), maxpagesize: String(rows) });
  for (const [key, value] of Object.entries(others)) if (value) query.set(key, value);
  return `${pathOfAccount(account, "events")}?${query}`;
}

/** A time with a zone as the value of a local time input; "" if it isn't a time. */
export function localInputTime(time: string): string {
  const at = new Date(time);
  if (!time || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The value of a local time input as a time in UTC. */
export function utcTime(local: string): string {
  return local ? new Date(local).toISOString().replace(".000Z", "Z") : "";
}
