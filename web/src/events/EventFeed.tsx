// The events that pass the filters. New events are added at the top; the visible ones keep their place on the screen.

import { useLayoutEffect, useRef } from "preact/hooks";
import { timeZone } from "../format/dates.ts";
import { formatCount, plural } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { MoreButton } from "../ui/list/MoreButton.tsx";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";
import { EventFilterBar } from "./EventFilterBar.tsx";
import { EventList } from "./EventList.tsx";
import { addressOfEvents, type EventFilters, isFiltered, pathOfEvents, ROWS_OF_CSV } from "./filters.ts";
import { useEventLog } from "./useEventLog.ts";

export function EventFeed({ filters }: { filters: EventFilters }) {
  const sectionRef = useRef<HTMLElement>(null);
  const isBeingRead = () => {
    const list = sectionRef.current;
    return Boolean(list && (list.matches(":has(ol:hover, ol:focus-within)") || list.getBoundingClientRect().top < 0));
  };
  const log = useEventLog(pathOfEvents(filters), isBeingRead);
  const { value, failure, retry, isLoadingOlder, loadOlder } = log;
  const rows = value?.rows ?? [];
  useStableScroll(sectionRef, rows[0]?.id, isBeingRead);
  return (
    <>
      <EventFilterBar filters={filters} loadedKinds={[...new Set(rows.map(({ kind }) => kind))]} />
      <section class="card event-feed" ref={sectionRef} aria-label="Events">
        <header>
          <p class="note" data-testid="shown">
            {value
              ? `${plural(rows.length, "event")} shown${value.next ? "" : " (all matches)"} · times in ${timeZone()}`
              : "Loading…"}
          </p>
          <a class="csv" href={pathOfEvents(filters, { format: "csv" })} download="events.csv">
            <span class="unseen">Events as </span>CSV{value?.next && `, the latest ${formatCount(ROWS_OF_CSV)}`}
          </a>
        </header>
        {failure && (
          <ErrorNotice failure={failure} retry={retry} name="events" subject="Events" hasOlderData={value !== null} />
        )}
        {rows.length > 0 && <EventList account={filters.account} events={rows} />}
        {value && !rows.length && <NoEvents filters={filters} more={value.next !== null} />}
        <MoreButton
          key={pathOfEvents(filters)}
          enabled={Boolean(value?.next) && !isLoadingOlder}
          onClick={loadOlder}
          label={isLoadingOlder ? "Loading…" : "Older events"}
        />
      </section>
    </>
  );
}

function NoEvents({ filters, more }: { filters: EventFilters; more: boolean }) {
  return (
    <div class="empty" data-testid="no-events">
      <h2>{more ? "None of the latest events match" : isFiltered(filters) ? "No event matches" : "No events yet"}</h2>
      {isFiltered(filters) ? (
        <Link to={addressOfEvents({ account: filters.account })}>Show all events</Link>
      ) : (
        <p>Events that Batch logs for pools and tasks, and those that node agents report, appear here after some minutes.</p>
      )}
    </div>
  );
}

/** While the user reads, scrolls by the height of events added at the top, so that the others don't move. */
function useStableScroll(
  sectionRef: { current: HTMLElement | null },
  first: string | undefined,
  isBeingRead: () => boolean,
): void {
  const anchor = useRef<{ id: string; top: number } | null>(null);
  const rowOf = (id: string) => sectionRef.current?.querySelector(`[data-event="${CSS.escape(id)}"]`);
  useLayoutEffect(() => {
    const row = anchor.current && anchor.current.id !== first && isBeingRead() && rowOf(anchor.current.id);
    const top =
      row && sectionRef.current ? row.getBoundingClientRect().top - sectionRef.current.getBoundingClientRect().top : 0;
    if (row && anchor.current && sectionRef.current)
      window.scrollBy({ top: top - anchor.current.top, behavior: "instant" });
    const now = first === undefined ? null : rowOf(first);
    anchor.current = !now || !sectionRef.current || first === undefined ? null
      : { id: first, top: now.getBoundingClientRect().top - sectionRef.current.getBoundingClientRect().top };
  });
}
