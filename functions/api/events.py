"""GET accounts/{account}/events: what Batch logged."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from functions.answers import Answer
from functions.api.history import Time
from functions.api.jobs import Format, Key, PageSize
from functions.csv_table import csv_reply
from functions.http import Call, Page, Query, Reply, Routes
from functions.parameters import BadRequestError
from shared.domain.batch_events import BatchEvent
from shared.domain.event_lists import EventFilter, Position
from shared.domain.event_sentences import sentence_of

Kind = Annotated[str, Meta(max_length=256, description="An operation of Batch's log, such as TaskFailEvent.")]


class EventsQuery(Query):
    """Filters of the event list; ids and kinds are compared without case. `from` is included, `to` isn't."""

    job: Key | UnsetType = UNSET
    task: Key | UnsetType = UNSET
    pool: Key | UnsetType = UNSET
    node: Key | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
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
            job=self.job or None,
            task=self.task or None,
            pool=self.pool or None,
            node=self.node or None,
            kind=self.kind or None,
            since=self.since or None,
            until=self.until or None,
        )

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
    """An event, but for what only its kind knows."""

    id: str
    time: datetime
    kind: str
    job_id: str | None
    task_id: str | None
    pool_id: str | None
    node_id: str | None
    summary: str


class EventAnswer(EventLine):
    """An event as Batch logged it, and in a sentence; secrets are taken out of `properties`.

    `claimedTime` is the log's time where that was more than an hour ahead when it was read, which `time` is then.
    """

    claimed_time: datetime | None
    properties: Mapping[str, Any]


def add_events(routes: Routes) -> None:
    @routes.route("GET", "accounts/{account}/events", query=EventsQuery, returns=Page[EventAnswer])
    async def list_events(call: Call[EventsQuery, None]) -> Page[EventAnswer] | Reply:
        """What Batch logged of an account's pools and tasks, the latest first."""
        services, query = await call.services(), call.query
        found = await services.events.events(
            call.path["account"], query.wanted, after=query.after, most=query.maxpagesize
        )
        link = call.next_link(found.more.text) if found.more else None
        page = Page(value=[_event(event) for event in found.events], next_link=link)
        return csv_reply(page, EventLine) if query.format == "csv" else page


def _event(event: BatchEvent) -> EventAnswer:
    return EventAnswer(
        id=event.id,
        time=event.at,
        kind=event.kind,
        job_id=event.job,
        task_id=event.task,
        pool_id=event.pool,
        node_id=event.node,
        summary=sentence_of(event),
        claimed_time=event.claimed,
        properties=event.properties,
    )
