// The page: the list of jobs or one of them, as its address says.

import { useEffect, useRef, useState } from "preact/hooks";
import { Feed, type Picture } from "./feed";
import { addressOf, readFilters, type Filters } from "./filters";
import { JobPage } from "./job/JobPage";
import { readView } from "./job/view";
import { Going, type Go } from "./Link";
import { ListPage } from "./ListPage";
import { NOTHING_YET, type Reading } from "./poller";
import { Shell } from "./Shell";
import { TipLayer } from "./Tip";

const read = () => ({ filters: readFilters(), view: readView() });

export function App() {
  const [{ filters, view }, setPlace] = useState(read);
  const [reading, setReading] = useState<Reading<Picture>>(NOTHING_YET);
  const feed = useRef<Feed>(null);
  feed.current ??= new Feed(filters, setReading);
  const listed = useRef({ address: "./", top: 0 });
  const onList = !view;
  useEffect(() => (onList ? feed.current?.start(readFilters()) : undefined), [onList]);
  useEffect(() => {
    const moved = () => {
      const place = read();
      setPlace(place);
      if (!place.view) feed.current?.look(place.filters);
    };
    window.addEventListener("popstate", moved);
    return () => window.removeEventListener("popstate", moved);
  }, []);
  useEffect(() => {
    window.scrollTo(0, onList ? listed.current.top : 0);
    if (onList) document.title = "Batchscope";
  }, [onList, view?.account, view?.job]);

  const go: Go = (address, how = "push") => {
    if (onList) listed.current = { address: location.search || "./", top: window.scrollY };
    history[how === "push" ? "pushState" : "replaceState"](null, "", address);
    setPlace(read());
  };
  const choose = (change: Partial<Filters>) => {
    const next = { ...filters, ...change };
    go(addressOf(next), "prefix" in change ? "replace" : "push");
    feed.current?.look(next);
  };
  return (
    <TipLayer>
      <Going.Provider value={go}>
        {view ? (
          <JobPage key={`${view.account} ${view.job}`} view={view} back={listed.current.address} />
        ) : (
          <Shell reading={reading} retry={() => feed.current?.refresh()}>
            <ListPage reading={reading} filters={filters} choose={choose} />
          </Shell>
        )}
      </Going.Provider>
    </TipLayer>
  );
}
