"""The retention and order of rejects."""

from datetime import UTC, datetime, timedelta

from shared.domain.blobs.blobs import Entry
from shared.domain.blobs.rejects import BadUnit
from shared.stores.blobs.rejects import RejectStore
from shared.stores.tables.tables import Tables

NOON = datetime(2026, 8, 6, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def test_rejects_are_kept_by_when_they_were_noted_not_by_their_blob(tables: Tables, partition: str) -> None:
    store = RejectStore(tables)
    for days in (1, 20):
        await store.save(partition, Entry("blob", NOON, NOON), [BadUnit(days, 0, "It is bad.", b"")], NOON + days * DAY)
    assert await store.delete_before(partition, NOON + 10 * DAY) == 1
    assert [one.refusal.offset for one in await store.load(partition, "", 10)] == [20]
    assert await store.delete_before(partition, NOON + 21 * DAY) == 1
    assert await store.load(partition, "", 10) == []
