// The list of events that pass the filters. New ones come in above what is read, which stays where it is on the screen.

import { useLayoutEffect, useRef } from "preact/hooks";
import { zone } from "../format/dates.ts";
import { count, plural } from "../format/numbers.ts";
import { Link } from "../routing/Link.tsx";
import { MoreButton } from "../ui/list/MoreButton.tsx";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";
import { EventFilterBar } from "./EventFilterBar.tsx";
import { EventList } from "./EventList.tsx";
import { addressOfEvents, type EventFilters, isFiltered, pathOfEvents, ROWS_OF_CSV } from "./filters.ts";
import { useLog } from "./useLog.ts";

export function EventFeed({ filters }: { filters: EventFilters }) {
  const part = useRef<HTMLElement>(null);
  const isRead = () => {
    const list = part.current;
    return Boolean(list && (list.matches(":has(ol:hover, ol:focus-within)") || list.getBoundingClientRect().top < 0));
  };
  const log = useLog(pathOfEvents(filters), isRead);
  const { value, failure, retry, older, readOlder } = log;
  const rows = value?.rows ?? [];
  useSteady(part, rows[0]?.id, isRead);
  return (
    <>
      <EventFilterBar filters={filters} seen={[...new Set(rows.map(({ kind }) => kind))]} />
      <section class="card event-feed" ref={part} aria-label="Events">
        <header>
          <p class="note" data-testid="shown">
            {value
              ? `${plural(rows.length, "event")} shown${value.next ? "" : " (all matches)"} · times in ${zone()}`
              : "Loading…"}
          </p>
          <a class="csv" href={pathOfEvents(filters, { format: "csv" })} download="events.csv">
            <span class="unseen">Events as </span>CSV{value?.next && `, the latest ${count(ROWS_OF_CSV)}`}
          </a>
        </header>
        {failure && (
          <ErrorNotice failure={failure} retry={retry} name="events" of="Events" older={value !== null} />
        )}
        {rows.length > 0 && <EventList account={filters.account} events={rows} />}
        {value && !rows.length && <NoEvents filters={filters} more={value.next !== null} />}
        <MoreButton
          key={pathOfEvents(filters)}
          enabled={Boolean(value?.next) && !older}
          onClick={readOlder}
          label={older ? "Loading…" : "Older events"}
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
        <p>Events that Batch logs for pools and tasks appear here after some minutes.</p>
      )}
    </div>
  );
}

/** Holds the first event that was there where it is on the screen while somebody reads, when others come above it. */
function useSteady(part: { current: HTMLElement | null }, first: string | undefined, isRead: () => boolean): void {
  const held = useRef<{ id: string; top: number } | null>(null);
  const rowOf = (id: string) => part.current?.querySelector(`[data-event="${CSS.escape(id)}"]`);
  useLayoutEffect(() => {
    const row = held.current && held.current.id !== first && isRead() && rowOf(held.current.id);
    const top = row && part.current ? row.getBoundingClientRect().top - part.current.getBoundingClientRect().top : 0;
    if (row && held.current && part.current) window.scrollBy({ top: top - held.current.top, behavior: "instant" });
    const now = first === undefined ? null : rowOf(first);
    held.current = !now || !part.current || first === undefined ? null
      : { id: first, top: now.getBoundingClientRect().top - part.current.getBoundingClientRect().top };
  });
}
