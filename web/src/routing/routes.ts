// The route that the page's address names: a list of jobs, pools or schedules, the costs, quotas, events or retirements, or one entry of a list.

export const TABS = ["jobs", "pools", "schedules", "cost", "quotas", "events", "retirements"] as const;
export type Tab = (typeof TABS)[number];
/** A tab whose entries have no detail pages; jobs and pools may be filters there. */
const PLAIN_TABS = ["cost", "quotas", "events", "retirements"] as const;
type PlainTab = (typeof PLAIN_TABS)[number];
/** A tab whose entries have detail pages. */
type DetailTab = Exclude<Tab, PlainTab>;

/** The query parameter with an entry's id, by tab. */
const ID_PARAMETERS: Record<DetailTab, string> = { jobs: "job", pools: "pool", schedules: "schedule" };

/** `id` names the entry of a detail page; it is null on a list, whose account is "" for all accounts. */
export interface Route {
  tab: Tab;
  account: string;
  id: string | null;
}

/** Whether the page has the address: its own path, and a view that exists. */
export function isKnownAddress(): boolean {
  const view = new URLSearchParams(location.search).get("view");
  return /^\/(index\.html)?$/.test(location.pathname) && (!view || TABS.some((each) => each === view));
}

export function hasDetails(tab: Tab): tab is DetailTab {
  return tab in ID_PARAMETERS;
}

export function readRoute(): Route {
  const query = new URLSearchParams(location.search);
  const account = query.get("account") ?? "";
  const view = query.get("view");
  const plain = PLAIN_TABS.find((each) => each === view);
  if (plain) return { tab: plain, account, id: null };
  const tab = account && (Object.keys(ID_PARAMETERS) as DetailTab[]).find((each) => query.get(ID_PARAMETERS[each]));
  if (tab) return { tab, account, id: query.get(ID_PARAMETERS[tab]) };
  return { tab: TABS.find((each) => each === view) ?? "jobs", account, id: null };
}

/** The address of a list; empty filters are omitted. */
export function addressOfList(tab: Tab, filters: Record<string, string>): string {
  const query = new URLSearchParams(tab === "jobs" ? {} : { view: tab });
  for (const [key, value] of Object.entries(filters)) if (value) query.set(key, value);
  return query.size ? `?${query}` : location.pathname;
}

/** The address of the page of one job, pool or schedule; empty parameters are omitted. */
export function addressOfDetail(
  tab: DetailTab,
  account: string,
  id: string,
  parameters: Record<string, string> = {},
): string {
  const query = new URLSearchParams({ account, [ID_PARAMETERS[tab]]: id });
  for (const [key, value] of Object.entries(parameters)) if (value) query.set(key, value);
  return `?${query}`;
}

/** The address of a job, or of a task on its page. */
export function addressOfJob(account: string, job: string, task = ""): string {
  return addressOfDetail("jobs", account, job, { task });
}
