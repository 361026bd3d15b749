"""Reads what a blob holds of some of its sessions: minutes, and hours where minutes have become such.

A roll-up may move minutes to hours meanwhile. Each of its transactions writes a row of hours; so if these are the same
before and after, what was read in between is of one moment. Otherwise it is read again.
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass

from shared.domain.telemetry.choices import Choice
from shared.domain.telemetry.chunks import HOURS, HOURS_A_DAY, MINUTES, Chunk, Grain, add_column
from shared.domain.telemetry.measured import Measured
from shared.domain.telemetry.rollups import Rollups, add
from shared.errors import CacheConflictError, HistoryRangeError
from shared.stores.telemetry import TelemetryStore
from shared.stores.telemetry_hours import HourStore

_TRIES = 5
_MOST_READ = 1_000_000  # minutes and hours of series: seconds of work
_MOST_KEPT = 300_000  # of them in memory, for one answer


@dataclass(frozen=True, slots=True)
class Part:
    """Hours since 1970, the first and the last included, of some series of some sessions of a partition.

    Minutes of hours between the first and the last are added up by `fold` at once, so that long ranges fit into memory.
    `hours` is False where it is known that no minutes of then became hours, or do so now.
    """

    partition: str
    sessions: Collection[int]
    first: int
    last: int
    choice: Choice
    fold: int
    hours: bool

    @property
    def days(self) -> tuple[int, int]:
        return self.first // HOURS_A_DAY, self.last // HOURS_A_DAY


class TelemetryReading:
    """One answer's. Raises HistoryRangeError where it would need too much memory, or time."""

    def __init__(self, minutes: TelemetryStore, hours: HourStore) -> None:
        self._minutes = minutes
        self._hours = hours
        self._read = self._kept = 0
        self.measured = Measured({}, {})

    async def add(self, part: Part) -> None:
        """Adds what is stored. Raises CacheConflictError where roll-ups come in between again and again."""
        if not part.hours:
            await self._add_minutes(part, self.measured.minutes)
            return
        read, kept = self._read, self._kept
        for _ in range(_TRIES):
            self._read, self._kept = read, kept
            found, before = Measured({}, {}), await self._hours.etags(part.partition, *part.days)
            await self._add_minutes(part, found.minutes)
            await self._add(part, HOURS, self._hours.chunks(part.partition, *part.days, part.choice.names), found.hours)
            if await self._hours.etags(part.partition, *part.days) == before:
                self.measured = self.measured.plus(found)
                return
        raise CacheConflictError("What nodes measured is being rolled up to hours; try again.")

    async def _add_minutes(self, part: Part, found: Rollups) -> None:
        chunks = self._minutes.chunks(part.partition, part.first, part.last, part.choice.names)
        await self._add(part, MINUTES, chunks, found)

    async def _add(self, part: Part, grain: Grain, chunks: AsyncIterator[Chunk], found: Rollups) -> None:
        async for chunk in chunks:
            if chunk.session in part.sessions:
                fold = part.fold if grain is MINUTES and part.first < chunk.block < part.last else 1
                for name, packed in chunk.columns.items():
                    column: Rollups = {}
                    self._read += add_column(column, name, chunk.block, packed, grain)
                    self._merge(found, part.choice.of(column), fold)
                    _limit(self._read, _MOST_READ)
                    _limit(self._kept, _MOST_KEPT)

    def _merge(self, found: Rollups, column: Rollups, fold: int) -> None:
        for series, periods in column.items():
            together = found.setdefault(series, {})
            before = len(together)
            for period, rollup in periods.items():
                add(together, period // fold * fold, rollup)
            self._kept += len(together) - before


def _limit(periods: int, most: int) -> None:
    if periods > most:
        raise HistoryRangeError(
            f"That would be more than {most:,} minutes of series: name a series, or ask for a shorter range.",
            target="name",
        )
