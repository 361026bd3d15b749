"""Answers from storage about Batch's events and their ingestion."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain

from shared.domain.blobs.blobs import UNREAD_TELEMETRY, telemetry_ingest_partition
from shared.domain.blobs.rejects import Reject
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep
from shared.domain.events.batch_events import BatchEvent, minute_of
from shared.domain.events.event_lists import EventFilter, Position, last_minute_of, position_of
from shared.domain.events.event_marks import marks_wanted
from shared.domain.events.internal_retries import START, internal_retries, task_of
from shared.services.accounts.registry import Registry
from shared.services.blobs.ingestion_stores import IngestionStores

_MAX_LOOKED_AT = 20_000  # events and skipped rows for one page, so that the search for rare ones spans several pages
_MAX_BEFORE = 5_000  # events read before a page to find the previous start of one of its tasks
_DAY_MINUTES = 24 * 60
_MAX_REMEMBERED = 5_000  # starts for which it is known whether they are internal retries


@dataclass(frozen=True, slots=True)
class EventPage:
    """A page of events, the latest first; `more` is where the next page begins, None after the last.

    `internal_retries` are the ids of starts that are internal retries.
    """

    events: Sequence[BatchEvent]
    more: Position | None
    internal_retries: Collection[str] = ()


class EventQueries:
    """Answers from storage about events and ingestion.

    `container` holds the logs, None if it isn't configured.
    """

    def __init__(
        self, registry: Registry, stores: IngestionStores, *, container: str | None, retention: timedelta
    ) -> None:
        self._registry = registry
        self._events, self._entries, self._rejects = stores.events, stores.entries, stores.rejects
        self._totals = stores.totals
        self._container = container
        self._retention = retention
        self._starts: dict[str, bool] = {}

    async def events_with_retries(
        self, account_id: str, wanted: EventFilter, *, after: Position | None, most: int
    ) -> EventPage:
        """Returns a page as `events` does, with the starts that are internal retries, as far as earlier events show."""
        page = await self.events(account_id, wanted, after=after, most=most)
        retried = await self._internal_retries(self._registry.account(account_id).key, page.events)
        return replace(page, internal_retries=retried)

    async def events(
        self,
        account_id: str,
        wanted: EventFilter,
        *,
        after: Position | None,
        most: int,
        most_rows: int | None = None,
    ) -> EventPage:
        """Returns up to `most` events that pass a filter, the latest first; a short page isn't always the last.

        A page ends with the minute in which more than `most_rows` rows were looked at, 20,000 by default.
        Raises NotFoundError, StorageError.
        """
        account = self._registry.account(account_id)
        oldest = await self._registry.clock.now() - self._retention
        first, last = wanted.minutes(oldest)
        shown: list[BatchEvent] = []
        looked_at = 0
        async for minute, some, passed in self._minutes(account.key, first, min(last, last_minute_of(after)), wanted):
            passing = [event for event in some if wanted.wants(event) and (after is None or position_of(event) < after)]
            shown += sorted(passing, key=position_of, reverse=True)
            looked_at += len(some) + passed
            if len(shown) > most:
                return EventPage(shown[:most], position_of(shown[most - 1]))
            if looked_at > (_MAX_LOOKED_AT if most_rows is None else most_rows) and minute > first:
                return EventPage(shown, Position.before_minute(minute))
        return EventPage(shown, None)

    async def has_kind(self, account_id: str, kind: str, within: EventFilter) -> bool:
        """Returns whether an event of this kind exists within the times of a filter.

        Raises NotFoundError, StorageError.
        """
        wanted = EventFilter(kinds=frozenset({kind}), since=within.since, until=within.until)
        after: Position | None = None
        while True:
            page = await self.events(account_id, wanted, after=after, most=1)
            if page.events or page.more is None:
                return bool(page.events)
            after = page.more

    async def _minutes(
        self, account_key: str, first: int, last: int, wanted: EventFilter
    ) -> AsyncIterator[tuple[int, Sequence[BatchEvent], int]]:
        """Yields minutes whose events may pass, the latest first, with their events and the number of skipped rows."""
        marks = marks_wanted(wanted)
        if not marks:
            async for minute, some in self._events.minutes(account_key, first, last):
                yield minute, some, 0
            return
        async for stretch in self._events.stretches(account_key, first, last, marks):
            if not stretch.is_wanted:
                yield stretch.first, (), stretch.rows
                continue
            async for minute, some in self._events.minutes(account_key, stretch.first, stretch.last):
                yield minute, some, 0

    async def _internal_retries(self, account_key: str, shown: Sequence[BatchEvent]) -> Collection[str]:
        """Returns the internal retries among listed events.

        Results are cached, as they don't change and lists repeat.
        """
        starts = [event for event in shown if event.kind == START and task_of(event)]
        known = {event.id: self._starts[event.id] for event in starts if event.id in self._starts}
        new = [event for event in starts if event.id not in known]
        if new:
            retried = internal_retries(await self._with_those_before(account_key, new))
            known |= {event.id: event.id in retried for event in new}
            if len(self._starts) > _MAX_REMEMBERED:  # also by a concurrent call
                self._starts = {}
            self._starts |= known
        return {event.id for event in starts if known[event.id]}

    async def _with_those_before(self, account_key: str, starts: Sequence[BatchEvent]) -> Sequence[BatchEvent]:
        """Returns the events of the starts' tasks up to the last start, within a day and a number of events."""
        tasks, looked_at = {task_of(event) for event in starts}, 0
        last, first = minute_of(max(event.at for event in starts)), minute_of(min(event.at for event in starts))
        jobs = {event.job for event in starts}
        wanted = EventFilter(jobs=frozenset(filter(None, jobs)) if len(jobs) == 1 else frozenset())
        some = list[BatchEvent]()
        async for _, minute, passed in self._minutes(account_key, max(first - _DAY_MINUTES, 0), last, wanted):
            some += [event for event in minute if task_of(event) in tasks]
            looked_at += len(minute) + passed
            if looked_at > _MAX_BEFORE + len(starts):
                break
        return some

    async def ingestion(self, account_id: str) -> IngestionReport:
        """Returns how ingestion of an account's logs and telemetry goes. Raises NotFoundError, StorageError."""
        account = self._registry.account(account_id)
        head = await self._events.load_head(account.key)
        logs, telemetry = [
            await self._entries.load_sweep(ingest_partition)
            for ingest_partition in (account.key, telemetry_ingest_partition(account.key))
        ]
        totals = await self._totals.load(account.key)
        return IngestionReport(account.id, self._container, logs, head.totals, telemetry, totals)

    async def all_ingestion(self, accounts: Collection[str]) -> list[IngestionReport]:
        """Returns the reports of these accounts, by id; none without a container.

        Raises NotFoundError, StorageError.
        """
        return [await self.ingestion(name) for name in sorted(accounts)] if self._container else []

    async def unread_telemetry(self) -> PartitionSweep | None:
        """Returns the last result for unread telemetry of unknown accounts. Raises StorageError."""
        return await self._entries.load_sweep(UNREAD_TELEMETRY) if self._container else None

    async def rejects(self, account_id: str, *, after: str, most: int) -> list[Reject]:
        """Returns up to `most` rejected units of logs and telemetry, those of the newest blobs first.

        Raises NotFoundError, StorageError.
        """
        key = self._registry.account(account_id).key
        both = [
            await self._rejects.load(ingest_partition, after, most)
            for ingest_partition in (key, telemetry_ingest_partition(key))
        ]
        return sorted(chain.from_iterable(both), key=lambda reject: reject.key)[:most]
