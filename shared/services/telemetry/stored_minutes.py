"""Reads minutes of a blob's nodes from the blob's own rows, an hour at a time, as a blob may hold a week."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from heapq import nlargest
from operator import itemgetter

from shared.domain.blobs.blobs import BlobRows
from shared.domain.telemetry.catalog.catalog import instruments
from shared.domain.telemetry.pools.node_minutes import Minutes, NodeKey, minutes_of_sessions
from shared.domain.telemetry.pools.node_totals import NodeMinute
from shared.domain.telemetry.rollups.chunks import add_column
from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, Rollups
from shared.stores.telemetry.telemetry import TelemetryStore


async def stored_minutes(
    store: TelemetryStore, blob: BlobRows, minutes: Collection[int], missed: Collection[int]
) -> tuple[Minutes, int]:
    """Returns some minutes of a blob and all minutes of the `missed` hours, and the latest minute of the hours read.

    Raises StorageError.
    """
    whose = await store.load_sessions(blob)
    hours = {minute // MINUTES_AN_HOUR for minute in minutes} | set(missed)
    found, newest = dict[int, Mapping[NodeKey, NodeMinute]](), -1
    async for hour, rollups in _hours(store, blob, hours):
        newest = max(newest, *(max(periods) for some in rollups.values() for periods in some.values()))
        wanted = rollups if hour in missed else _within(rollups, minutes)
        found |= minutes_of_sessions(wanted, whose)
    return found, newest


async def missed_hours(store: TelemetryStore, blob: BlobRows, since: int, hours: range, most: int | None) -> set[int]:
    """Returns the hours to which steps from the offset `since` on added, and the last hour of the blob.

    `most` is the number of rows that count, from the last step on. Raises StorageError.
    """
    steps = await store.steps_of_blob(blob, hours[0], hours[-1])
    missed = [(hour, offset) for hour, offset in steps if offset >= since]
    latest = missed if most is None else nlargest(most, missed, key=itemgetter(1))
    return {*(hour for hour, _ in latest), *sorted(hour for hour, _ in steps)[-1:]}


async def _hours(
    store: TelemetryStore, blob: BlobRows, hours: Collection[int]
) -> AsyncIterator[tuple[int, dict[int, Rollups]]]:
    """Yields the rollups of sessions of each hour that has any."""
    at, rollups = -1, dict[int, Rollups]()
    for first, last in _spans(hours):
        async for chunk in store.minutes_of_blob(blob, first, last, tuple(instruments())):
            if chunk.block != at and rollups:
                yield at, rollups
                rollups = {}
            at = chunk.block
            for name, packed in chunk.columns.items():
                add_column(rollups.setdefault(chunk.session, {}), name, at, packed)
    if rollups:
        yield at, rollups


def _spans(hours: Collection[int]) -> Iterator[tuple[int, int]]:
    """Yields the first and last of consecutive hours."""
    for first in sorted(hour for hour in hours if hour - 1 not in hours):
        last = first
        while last + 1 in hours:
            last += 1
        yield first, last


def _within(rollups: dict[int, Rollups], minutes: Collection[int]) -> dict[int, Rollups]:
    return {
        session: {
            series: {minute: one for minute, one in periods.items() if minute in minutes}
            for series, periods in some.items()
        }
        for session, some in rollups.items()
    }
