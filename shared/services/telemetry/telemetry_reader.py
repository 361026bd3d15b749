"""Reads data of some sessions of a partition: minutes, and hours that replaced minutes.

A roll-up may move minutes to hours meanwhile. Each of its transactions writes a row of hours. So if these are unchanged
after reading, the result is consistent; otherwise it is read again.
"""

from collections.abc import Collection
from dataclasses import dataclass

from shared.domain.blobs.blobs import SessionKey
from shared.domain.telemetry.query.ranges import StoredRollups
from shared.domain.telemetry.query.series_selectors import SeriesSelector
from shared.domain.telemetry.rollups.chunks import HOURS, HOURS_A_DAY, MINUTES, add_column
from shared.domain.telemetry.rollups.rollups import Rollups, merge
from shared.errors import CacheConflictError, HistoryRangeError
from shared.stores.telemetry.telemetry import TelemetryStore

_TRIES = 5
_MAX_READ = 1_000_000  # minutes and hours of series: seconds of work
_MAX_KEPT = 300_000


@dataclass(frozen=True, slots=True)
class Part:
    """Hours since 1970, both ends included, of some series of some sessions of a partition.

    Minutes of hours between the first and the last are summed by `fold` while reading, so that long ranges fit into
    memory. `hours` is False if certainly no minutes of the range became or become hours.
    """

    partition: str
    sessions: Collection[SessionKey]
    first: int
    last: int
    choice: SeriesSelector
    fold: int
    hours: bool

    @property
    def days(self) -> tuple[int, int]:
        return self.first // HOURS_A_DAY, self.last // HOURS_A_DAY


@dataclass(slots=True)
class _Count:
    """Minutes and hours of series: how many were read, and how many of these are kept."""

    read: int = 0
    kept: int = 0


class TelemetryReader:
    """The reads of one answer. Raises HistoryRangeError if it needs too much memory or time."""

    def __init__(self, store: TelemetryStore) -> None:
        self._store = store
        self._all = _Count()
        self.measured = StoredRollups({}, {})

    async def add(self, part: Part) -> None:
        """Adds stored data. Raises CacheConflictError if roll-ups intervene five times."""
        if not part.hours:
            await self._add(part, MINUTES, self.measured.minutes, _Count())
            return
        for _ in range(_TRIES):
            found, count = StoredRollups({}, {}), _Count()
            before = await self._store.hour_etags(part.partition, *part.days)
            await self._add(part, MINUTES, found.minutes, count)
            await self._add(part, HOURS, found.hours, count)
            if await self._store.hour_etags(part.partition, *part.days) == before:
                self.measured.add(found)
                return
            self._all = _Count(self._all.read - count.read, self._all.kept - count.kept)
        raise CacheConflictError("What nodes measured is being rolled up to hours; try again.")

    async def _add(self, part: Part, width: int, found: Rollups, count: _Count) -> None:
        are_minutes = width == MINUTES
        load, blocks = (self._store.minutes, (part.first, part.last)) if are_minutes else (self._store.hours, part.days)
        async for chunk in load(part.partition, *blocks, part.choice.to_read):
            if (chunk.owner, chunk.session) in part.sessions:
                fold = part.fold if are_minutes and part.first < chunk.block < part.last else 1
                for name, packed in chunk.columns.items():
                    column: Rollups = {}
                    read = add_column(column, name, chunk.block, packed, width)
                    self._tally(count, read, merge(found, part.choice.part_of(column), fold))

    def _tally(self, count: _Count, read: int, kept: int) -> None:
        """Counts for a part and in total. Raises HistoryRangeError for too many."""
        for one in (count, self._all):
            one.read += read
            one.kept += kept
        require_at_most(_MAX_READ, self._all.read, "minutes")
        require_at_most(_MAX_KEPT, self._all.kept, "minutes")


def require_at_most(most: int, periods: int, kind: str) -> None:
    """Raises HistoryRangeError for more periods of series, steps or `minutes`."""
    if periods > most:
        raise HistoryRangeError(
            f"That would be more than {most:,} {kind} of series: name a series, or ask for a shorter range.",
            target="name",
        )
