// The page: a list or one thing in it, as the page's address says.

import { useEffect, useRef, useState } from "preact/hooks";
import { EventsPage } from "./events/EventsPage.tsx";
import { JobPage } from "./job/JobPage.tsx";
import { JobsPage } from "./jobs/JobsPage.tsx";
import { NoSuchPage } from "./NoSuchPage.tsx";
import { PoolPage } from "./pool/PoolPage.tsx";
import { PoolsPage } from "./pools/PoolsPage.tsx";
import { readView } from "./routing/jobView.ts";
import { type Go, Going } from "./routing/Link.tsx";
import { addressOfList, addressOfOne, isKnownAddress, type Place, readPlace, type Tab } from "./routing/places.ts";
import { SchedulePage } from "./schedule/SchedulePage.tsx";
import { SchedulesPage } from "./schedule/SchedulesPage.tsx";
import { TipLayer } from "./ui/text/Tip.tsx";

const LISTS = { jobs: JobsPage, pools: PoolsPage, schedules: SchedulesPage, events: EventsPage };
/** Pages of what a list holds; without one the list is shown. */
const PAGES: Partial<Record<Tab, typeof PoolPage>> = { pools: PoolPage, schedules: SchedulePage };

interface Left {
  address: string;
  top: number;
}

export function App() {
  const [place, setPlace] = useState(readPlace);
  const left = useRef<Partial<Record<Tab, Left>>>({});
  useEffect(() => {
    const moved = () => setPlace(readPlace());
    window.addEventListener("popstate", moved);
    return () => window.removeEventListener("popstate", moved);
  }, []);
  const before = useRef(place);
  useEffect(() => {
    const { tab, account, id } = before.current;
    before.current = place;
    window.scrollTo(0, place.id === null ? (left.current[place.tab]?.top ?? 0) : 0);
    if (id !== null && place.id === null && place.tab === tab && tab !== "events") focusOn(addressOfOne(tab, account, id));
  }, [keyOf(place)]);

  const go: Go = (address, how = "push") => {
    if (place.id === null) left.current[place.tab] = { address: location.search || "./", top: window.scrollY };
    const here = location.href;
    const cameFrom = history.state?.from === new URL(address, here).href;
    if (how === "back" && cameFrom) return history.back(); // which tells of it by popstate
    if (how === "push") history.pushState({ from: here }, "", address);
    else history.replaceState(history.state, "", address);
    setPlace(readPlace());
  };
  return (
    <TipLayer>
      <Going.Provider value={go}>
        <Shown key={keyOf(place)} place={place} back={left.current[place.tab]?.address ?? addressOfList(place.tab, {})} />
      </Going.Provider>
    </TipLayer>
  );
}

/** Gives a list's link the focus that its page had, or the way to the list where it isn't listed. */
function focusOn(address: string): void {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>("a.open")];
  const link = rows.find((each) => each.getAttribute("href") === address);
  (link ?? document.querySelector<HTMLAnchorElement>(".tabs [aria-current]"))?.focus({ preventScroll: true });
}

/** The same while filters change, so that nothing that is shown begins anew. */
function keyOf({ tab, account, id }: Place): string {
  if (!isKnownAddress()) return location.href;
  return id === null ? tab : JSON.stringify([tab, account, id]);
}

function Shown({ place, back }: { place: Place; back: string }) {
  if (!isKnownAddress()) return <NoSuchPage />;
  const view = place.tab === "jobs" ? readView() : null;
  if (view) return <JobPage view={view} back={back} />;
  const One = PAGES[place.tab];
  if (One && place.id !== null) return <One account={place.account} id={place.id} back={back} />;
  const List = LISTS[place.tab];
  return <List />;
}
