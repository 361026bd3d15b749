// The page: shows the list or the detail page that its address names.

import { useEffect, useRef, useState } from "preact/hooks";
import { CostPage } from "./cost/CostPage.tsx";
import { EventsPage } from "./events/EventsPage.tsx";
import { JobPage } from "./job/JobPage.tsx";
import { JobsPage } from "./jobs/JobsPage.tsx";
import { PageNotFound } from "./PageNotFound.tsx";
import { PoolPage } from "./pool/PoolPage.tsx";
import { PoolsPage } from "./pools/PoolsPage.tsx";
import { QuotasPage } from "./quotas/QuotasPage.tsx";
import { RetirementsPage } from "./retirements/RetirementsPage.tsx";
import { readJobView } from "./routing/jobView.ts";
import { type Navigate, Navigation } from "./routing/Link.tsx";
import { addressOfDetail, addressOfList, hasDetails, isKnownAddress, type Route, readRoute, type Tab } from "./routing/routes.ts";
import { SchedulePage } from "./schedule/SchedulePage.tsx";
import { SchedulesPage } from "./schedule/SchedulesPage.tsx";
import { TooltipLayer } from "./ui/text/Tooltip.tsx";

const LIST_PAGES = { jobs: JobsPage, pools: PoolsPage, schedules: SchedulesPage, cost: CostPage, quotas: QuotasPage, events: EventsPage, retirements: RetirementsPage };
/** Detail pages by tab; the job's page is separate, as it has a view of its own. */
const DETAIL_PAGES: Partial<Record<Tab, typeof PoolPage>> = { pools: PoolPage, schedules: SchedulePage };

/** The address and scroll position at which a list was left. */
interface ListPosition {
  address: string;
  top: number;
}

export function App() {
  const [route, setRoute] = useState(readRoute);
  const positions = useRef<Partial<Record<Tab, ListPosition>>>({});
  useEffect(() => {
    const onPopState = () => setRoute(readRoute());
    window.addEventListener("popstate", onPopState);
    return () => window.removeEventListener("popstate", onPopState);
  }, []);
  const previous = useRef(route);
  useEffect(() => {
    const { tab, account, id } = previous.current;
    previous.current = route;
    window.scrollTo(0, route.id === null ? (positions.current[route.tab]?.top ?? 0) : 0);
    if (id !== null && route.id === null && route.tab === tab && hasDetails(tab))
      focusOn(addressOfDetail(tab, account, id));
  }, [keyOf(route)]);

  const navigate: Navigate = (address, mode = "push") => {
    if (route.id === null) positions.current[route.tab] = { address: location.search || "./", top: window.scrollY };
    const here = location.href;
    const isPrevious = history.state?.from === new URL(address, here).href;
    if (mode === "back" && isPrevious) return history.back(); // the listener of popstate sets the route
    if (mode === "push") history.pushState({ from: here }, "", address);
    else history.replaceState(history.state, "", address);
    setRoute(readRoute());
  };
  return (
    <TooltipLayer>
      <Navigation.Provider value={navigate}>
        <CurrentPage
          key={keyOf(route)}
          route={route}
          back={positions.current[route.tab]?.address ?? addressOfList(route.tab, {})}
        />
      </Navigation.Provider>
    </TooltipLayer>
  );
}

/** Moves the focus to an entry's link in its list, or to the list's tab if the list doesn't show the entry. */
function focusOn(address: string): void {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>("a.open")];
  const link = rows.find((each) => each.getAttribute("href") === address);
  (link ?? document.querySelector<HTMLAnchorElement>(".tabs [aria-current]"))?.focus({ preventScroll: true });
}

/** Identifies a page; filters don't change it, so that they don't remount the page. */
function keyOf({ tab, account, id }: Route): string {
  if (!isKnownAddress()) return location.href;
  return id === null ? tab : JSON.stringify([tab, account, id]);
}

function CurrentPage({ route, back }: { route: Route; back: string }) {
  if (!isKnownAddress()) return <PageNotFound />;
  const view = route.tab === "jobs" ? readJobView() : null;
  if (view) return <JobPage view={view} back={back} />;
  const DetailPage = DETAIL_PAGES[route.tab];
  if (DetailPage && route.id !== null) return <DetailPage account={route.account} id={route.id} back={back} />;
  const ListPage = LIST_PAGES[route.tab];
  return <ListPage />;
}
