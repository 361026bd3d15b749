"""Reads minutes of a blob's nodes from the blob's own rows."""

from collections.abc import Collection

from shared.domain.blobs.blobs import BlobRows
from shared.domain.telemetry.catalog.catalog import instruments
from shared.domain.telemetry.pools.node_minutes import Minutes, minutes_of_sessions
from shared.domain.telemetry.rollups.chunks import add_column
from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, Rollups
from shared.stores.telemetry.telemetry import TelemetryStore


async def stored_minutes(
    store: TelemetryStore, blob: BlobRows, minutes: Collection[int], since: int | None, until: int
) -> tuple[Minutes, int]:
    """Returns some minutes of a blob, all `since` one (None: no others), and the latest stored minute before `until`.

    Raises StorageError.
    """
    first = min((*minutes, since) if since is not None else minutes)
    whose = await store.load_sessions(blob)
    rollups: dict[int, Rollups] = {}
    async for chunk in store.minutes_of_blob(
        blob, first // MINUTES_AN_HOUR, until // MINUTES_AN_HOUR, tuple(instruments())
    ):
        for name, packed in chunk.columns.items():
            add_column(rollups.setdefault(chunk.session, {}), name, chunk.block, packed)
    newest = max((minute for some in rollups.values() for periods in some.values() for minute in periods), default=-1)
    wanted = {
        session: {
            series: {
                minute: one
                for minute, one in periods.items()
                if minute in minutes or (since is not None and minute >= since)
            }
            for series, periods in some.items()
        }
        for session, some in rollups.items()
    }
    return minutes_of_sessions(wanted, whose), newest
