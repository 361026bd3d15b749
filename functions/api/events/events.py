"""GET accounts/{account}/events: the events that Batch logged, and those that nodes reported."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from functions.api.endpoints import ACCOUNT
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import BadRequestError, Format, Ids, Key, PageSize, Time
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter, Position
from shared.domain.events.event_sentences import ALL_KINDS, sentence_of

if TYPE_CHECKING:  # avoids loading queries at start
    from shared.services.events.event_queries import EventPage

Kinds = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=256)], ...],
    Meta(
        max_length=100,
        description="Operations of Batch's log and kinds of nodes' events with commas between them, such as"
        " TaskFailEvent,node.oom_kill.",
    ),
]


class EventsQuery(Query):
    """Filters of the event list; ids and kinds are case-insensitive. `from` is inclusive, `to` exclusive."""

    job: Ids = ()
    task: Ids = ()
    pool: Ids = ()
    node: Ids = ()
    kind: Kinds = ()
    since: Time | UnsetType = field(default=UNSET, name="from")
    until: Time | UnsetType = field(default=UNSET, name="to")
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    @property
    def wanted(self) -> EventFilter:
        if self.since and self.until and self.since > self.until:
            raise BadRequestError("The query parameter 'from' is a time before 'to'.", target="from")
        return EventFilter(
            jobs=frozenset(self.job),
            tasks=frozenset(self.task),
            pools=frozenset(self.pool),
            nodes=frozenset(self.node),
            kinds=frozenset(self.kind),
            since=self.since or None,
            until=self.until or None,
        )

    def unknown_kinds(self, shown: Iterable[str]) -> list[str]:
        """Returns the requested kinds that are neither known nor among the kinds shown."""
        known = {kind.casefold() for kind in (*ALL_KINDS, *shown)}
        return [kind for kind in self.kind if kind.casefold() not in known]

    @property
    def after(self) -> Position | None:
        try:
            return Position.parse(self.continuation) if self.continuation else None
        except ValueError:
            raise BadRequestError(
                f"The query parameter 'continuation' can't be '{self.continuation}'; it is what a nextLink says.",
                target="continuation",
            ) from None


class EventLine(Answer):
    """An event without the properties specific to its kind."""

    id: str
    time: datetime
    kind: str
    job_id: str | None
    task_id: str | None
    pool_id: str | None
    node_id: str | None
    summary: str


class EventAnswer(EventLine):
    """An event that Batch logged, a node reported or Batchscope found, with a sentence; `properties` have no secrets.

    `claimedTime` is the logged time if that was more than an hour ahead when it was read; `time` is then the time of
    reading. `internalRetry` marks a restart by the service itself, which no retry count includes.
    """

    internal_retry: bool
    claimed_time: datetime | None
    properties: Mapping[str, Any]


def add_events(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/events", query=EventsQuery, returns=Page[EventAnswer])
    async def list_events(call: RouteRequest[EventsQuery, None]) -> Page[EventAnswer] | RouteResponse:
        """Lists events of pools and tasks that Batch logged, those of nodes, and changes of settings, latest first."""
        services, query = await call.services(), call.query
        found = await services.events.events_with_retries(
            call.path["account"], query.wanted, after=query.after, most=query.maxpagesize
        )
        for kind in query.unknown_kinds({event.kind for event in found.events}):
            if not await services.events.has_kind(call.path["account"], kind, query.wanted):
                raise _no_such_kind(kind)
        link = call.next_link(found.more.text if found.more else None)
        page = Page(value=[_event(event, found) for event in found.events], next_link=link)
        return csv_reply(page, EventLine) if query.format == "csv" else page


def _no_such_kind(kind: str) -> BadRequestError:
    return BadRequestError(
        f"The query parameter 'kind' can't be '{kind}', which no event here is of; it is one of"
        f" {', '.join(ALL_KINDS)}, or several with commas between them.",
        target="kind",
    )


def _event(event: BatchEvent, page: "EventPage") -> EventAnswer:
    is_internal_retry = event.id in page.internal_retries
    return EventAnswer.of(
        event,
        internal_retry=is_internal_retry,
        time=event.at,
        job_id=event.job,
        task_id=event.task,
        pool_id=event.pool,
        node_id=event.node,
        summary=sentence_of(event, is_internal_retry=is_internal_retry),
        claimed_time=event.claimed,
    )
