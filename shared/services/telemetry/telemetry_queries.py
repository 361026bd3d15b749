"""Answers queries for measurements of nodes, merged over all blobs with sessions of a node."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.blobs.uncharted_blobs import UnchartedBlob, why_undrawn
from shared.domain.telemetry.query.ranges import Line, Range, line_of, range_of
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.query.series_selectors import selector_of
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.domain.telemetry.sessions.node_facts import NodeFacts, latest_of
from shared.errors import NotFoundError
from shared.services.accounts.registry import found
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.node_sessions import NodeSessions, SessionsByPartition, some_at_once
from shared.services.telemetry.telemetry_reader import Part, TelemetryReader, require_at_most
from shared.stores.pools.pools import PoolStore

_ALL = SeriesQuery()
_NO_FACTS = NodeFacts()
_MAX_UNDRAWN = 10  # blobs
_PARTS_AT_ONCE = 4
_MAX_POINTS = 100_000  # per answer: about 10 MB


@dataclass(frozen=True, slots=True)
class NodeTelemetry:
    """The requested range as far as it is kept, and rollups of its steps, keyed by the first minute of each.

    `hourly` are the parts kept only in hours. `left_out` counts dropped data of the whole blobs with data in the range,
    `facts` are of the session whose node started last. If there is nothing to show, `undrawn` are the blobs received.
    """

    range: Range
    rollups: Rollups
    left_out: DroppedCounts
    hourly: Sequence[tuple[datetime, datetime]] = ()
    facts: NodeFacts = _NO_FACTS
    undrawn: Sequence[UnchartedBlob] = ()

    @property
    def lines(self) -> list[Line]:
        """Returns the series, sorted by name and attributes."""
        lines = [line_of(series, steps) for series, steps in self.rollups.items()]
        return sorted(lines, key=lambda line: (line.name, line.attributes))


@dataclass(frozen=True, slots=True)
class TelemetryQueries:
    """Answers about telemetry; `accounts` are keyed by id, `minutes` and `hours` are retentions."""

    accounts: Mapping[str, Account]
    stores: IngestionStores
    pools: PoolStore
    clock: Clock
    minutes: timedelta
    hours: timedelta

    @property
    def sessions(self) -> NodeSessions:
        return NodeSessions(self.stores.telemetry, self.stores.node_index, self.stores.entries)

    async def of_node(self, account_id: str, pool_id: str, node_id: str, asked: SeriesQuery = _ALL) -> NodeTelemetry:
        """Returns measurements of a node, also of a deleted one; nothing if it sent none.

        Raises NotFoundError if the pool is unknown too, HistoryRangeError, CacheConflictError, StorageError.
        """
        account = found(self.accounts, account_id)
        wanted = await self.range_of(asked)
        partitions = await self.sessions.find(account.key, pool_id, node_id, wanted.hours)
        answer = await self.of_sessions(partitions, wanted, asked)
        undrawn = () if answer.rollups else await self._undrawn(account.key, pool_id, node_id, wanted)
        is_known = partitions or any(one.arrival.names_node for one in undrawn)
        if not is_known and (await self.pools.load(account.key, pool_id))[1] is None:
            raise NotFoundError("pool", pool_id, f" in the account '{account.id}'")
        return replace(answer, undrawn=undrawn)

    async def _undrawn(self, account_key: str, pool: str, node: str, wanted: Range) -> Sequence[UnchartedBlob]:
        """Returns blobs of a node without any series; otherwise those that name no node and may be the node's."""
        first, last = (hour // HOURS_A_DAY for hour in wanted.hours)
        load = self.stores.node_index.load_arrivals
        for name in (node, ""):
            found = await load(account_key, pool, name, first=first, last=last, most=_MAX_UNDRAWN)
            if found:
                break
        counts = await some_at_once(self._left_out_of, [(one.rows.partition, {one.rows.owner}) for one in found])
        pairs = zip(found, counts, strict=True)
        return [UnchartedBlob(arrival, why_undrawn(arrival.format, one)) for arrival, one in pairs]

    async def _left_out_of(self, part: tuple[str, Collection[str]]) -> DroppedCounts:
        return await self.stores.telemetry.load_left_out(*part)

    async def require_sense(self, asked: SeriesQuery) -> None:
        """Raises HistoryRangeError for an invalid query, independent of the stored data and the retention."""
        selector_of(asked.name, asked.attributes)
        await self.range_of(SeriesQuery(asked.since, asked.until))
        await self.range_of(SeriesQuery(step=asked.step))

    async def range_of(self, asked: SeriesQuery) -> Range:
        """Returns the range within the retention. Raises HistoryRangeError."""
        now, retention = await self.clock.now(), max(self.minutes, self.hours)
        return range_of(asked.since, asked.until, asked.step, now=now, retention=retention)

    async def of_sessions(self, partitions: SessionsByPartition, wanted: Range, asked: SeriesQuery) -> NodeTelemetry:
        """Returns the data of some sessions in a range. Raises the errors of `of_node`."""
        choice, oldest = selector_of(asked.name, asked.attributes), await self.clock.now() - self.minutes
        reading, counts = TelemetryReader(self.stores.telemetry), DroppedCounts()
        owners = [(name, {one.entry.rows.owner for one in some}) for name, some in partitions.items()]
        for left_out in await some_at_once(self._left_out_of, owners):
            counts = counts.plus(left_out)
        parts = []
        for partition, sessions in partitions.items():  # minutes before `oldest` may become hours at any moment
            may_have_hours = wanted.since < oldest or any(session.entry.has_hours for session in sessions)
            keys = {session.entry.session_key for session in sessions}
            parts.append(Part(partition, keys, *wanted.hours, choice, wanted.fold, may_have_hours))
        await some_at_once(reading.add, parts, _PARTS_AT_ONCE)
        measured = reading.measured
        if asked.step is None and measured.is_hourly:
            wanted = wanted.in_hours()
        steps = choice.of(wanted.steps_of(measured))
        require_at_most(_MAX_POINTS, sum(map(len, steps.values())), "steps")
        facts = latest_of(session.facts for sessions in partitions.values() for session in sessions)
        return NodeTelemetry(wanted, steps, counts, wanted.hourly_parts(measured), facts)
