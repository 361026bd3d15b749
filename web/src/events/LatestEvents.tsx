// The latest events of a job, pool or node, on its page; renders nothing if there are none.

import type { Page } from "../api/model.ts";
import { usePolled } from "../api/usePolled.ts";
import { Link } from "../routing/Link.tsx";
import { ErrorNotice } from "../ui/page/ErrorNotice.tsx";
import { useInView } from "../ui/page/useInView.ts";
import { EventList, type Subject } from "./EventList.tsx";
import { addressOfEvents, pathOfEvents } from "./filters.ts";
import type { BatchEvent } from "./model.ts";

const INTERVAL_MS = 30_000;
const ROWS = 6;

interface LatestProps {
  account: string;
  subject: Subject;
  /** False in a panel, where the list has no frame. */
  framed?: boolean;
}

export function LatestEvents({ account, subject, framed = true }: LatestProps) {
  const { ref, inView } = useInView();
  const path = pathOfEvents({ account, ...subject }, { rows: ROWS });
  const { value, failure, retry } = usePolled<Page<BatchEvent>>({ path, intervalMs: INTERVAL_MS, enabled: inView });
  const events = value?.value ?? [];
  const shown = events.length > 0 || failure?.message != null;
  const kind = shown && framed ? "part-of-job card" : "";
  return (
    <section ref={ref} class={`latest-events ${kind}`} aria-label={shown ? "Events" : undefined} data-section="events">
      {shown && (
        <>
          <header>
            {framed ? <h3>Events</h3> : <h4>Events</h4>}
            <p class="note">the latest</p>
            <div class="actions">
              <Link to={addressOfEvents({ account, ...subject })}>All events</Link>
            </div>
          </header>
          {failure?.message != null && (
            <ErrorNotice failure={failure} retry={retry} name="events" subject="Events" />
          )}
          <EventList account={account} events={events} subject={subject} />
        </>
      )}
    </section>
  );
}
