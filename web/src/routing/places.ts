// Where one is: in the list of jobs, pools or schedules, or at one of them, or at events, as the page's address says.

export const TABS = ["jobs", "pools", "schedules", "events"] as const;
export type Tab = (typeof TABS)[number];
/** A list that leads to pages of what it holds. */
export type Thing = Exclude<Tab, "events">;

/** What one of each is called in an address, beside the account that it belongs to. */
const ONE: Record<Thing, string> = { jobs: "job", pools: "pool", schedules: "schedule" };

/** `id` is the one that is looked at; null in a list, whose account is "" where all are shown. */
export interface Place {
  tab: Tab;
  account: string;
  id: string | null;
}

/** False for an address that leads nowhere: a path other than the page's own, or a view that there isn't. */
export function isKnownAddress(): boolean {
  const view = new URLSearchParams(location.search).get("view");
  return /^\/(index\.html)?$/.test(location.pathname) && (!view || TABS.some((each) => each === view));
}

export function readPlace(): Place {
  const query = new URLSearchParams(location.search);
  const account = query.get("account") ?? "";
  if (query.get("view") === "events") return { tab: "events", account, id: null }; // where a job or a pool is a filter
  const tab = account && (Object.keys(ONE) as Thing[]).find((each) => query.get(ONE[each]));
  if (tab) return { tab, account, id: query.get(ONE[tab]) };
  return { tab: TABS.find((each) => each === query.get("view")) ?? "jobs", account, id: null };
}

/** The address of a list; what is "" is left out and stands for everything. */
export function addressOfList(tab: Tab, filters: Record<string, string>): string {
  const query = new URLSearchParams(tab === "jobs" ? {} : { view: tab });
  for (const [key, value] of Object.entries(filters)) if (value) query.set(key, value);
  return query.size ? `?${query}` : location.pathname;
}

/** The address of one job, pool or schedule, and of what is looked at there. */
export function addressOfOne(tab: Thing, account: string, id: string, looked: Record<string, string> = {}): string {
  const query = new URLSearchParams({ account, [ONE[tab]]: id });
  for (const [key, value] of Object.entries(looked)) if (value) query.set(key, value);
  return `?${query}`;
}

/** The address of a job, or of a task on its page. */
export function addressOfJob(account: string, job: string, task = ""): string {
  return addressOfOne("jobs", account, job, { task });
}
