// Events one below the other: when, of which kind, and what happened in a sentence whose names lead to what they name.

import { exactMoment } from "../format/dates.ts";
import { ExternalText } from "../ui/text/ExternalText.tsx";
import type { EventFilters } from "./filters.ts";
import type { EventLine } from "./model.ts";
import { Sentence } from "./Sentence.tsx";

/** What the list is of already, and so isn't said beside each event. */
export type Subject = Partial<Pick<EventFilters, "job" | "task" | "pool" | "node">>;

interface EventListProps {
  account: string;
  events: EventLine[];
  subject?: Subject;
}

export function EventList({ account, events, subject = {} }: EventListProps) {
  return (
    <ol class="events" data-testid="events">
      {events.map((event) => (
        <li key={event.id} data-event={event.id} data-tone={event.kind.includes("Fail") ? "bad" : "plain"}>
          <time dateTime={event.time}>{exactMoment(Date.parse(event.time))}</time>
          <span class="kind">
            <ExternalText text={event.kind} />
          </span>
          <Sentence account={account} event={event} subject={subject} />
        </li>
      ))}
    </ol>
  );
}
