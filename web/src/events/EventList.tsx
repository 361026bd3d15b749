// A list of events: time, kind, and summary.

import { formatExactTime } from "../format/dates.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import { EventSummary } from "./EventSummary.tsx";
import type { EventFilters } from "./filters.ts";
import { type BatchEvent, toneOf } from "./model.ts";

/** The objects that the whole list is about; events don't repeat links to them. */
export type Subject = Partial<Pick<EventFilters, "job" | "task" | "pool" | "node">>;

interface EventListProps {
  account: string;
  events: BatchEvent[];
  subject?: Subject;
}

export function EventList({ account, events, subject = {} }: EventListProps) {
  return (
    <ol class="events" data-testid="events">
      {events.map((event) => (
        <li key={event.id} data-event={event.id} data-tone={toneOf(event.kind)}>
          <time dateTime={event.time}>{formatExactTime(Date.parse(event.time))}</time>
          <span class="kind">
            <ExternalText text={event.kind} />
          </span>
          <EventSummary account={account} event={event} subject={subject} />
        </li>
      ))}
    </ol>
  );
}
