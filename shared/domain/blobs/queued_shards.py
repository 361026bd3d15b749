"""Shards of an ingest partition whose unread blobs wait in the queue, or are being read by a host."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.blobs.blobs import Entry, SeenBlob

LASTS = timedelta(seconds=45)
"""How long a shard is left to its message, and then to its reader; after that, another message is sent."""
MAX_BLOBS = 2000
"""Unread blobs of a shard in its row, some hundred bytes each; the next sweep adds others."""


@dataclass(frozen=True, slots=True)
class UnreadBlob:
    """A blob as listed, and its stored entry, None for a new blob."""

    blob: SeenBlob
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class ShardMessage:
    """A queue message: a shard of an ingest partition has unread blobs."""

    ingest_partition: str
    shard: int


@dataclass(frozen=True, slots=True)
class QueuedShard:
    """A shard with its unread blobs, those that wait longest first.

    It belongs to its message, or to the host that `is_read` shows, until a time. `problems` are reasons by the names of
    blobs that couldn't be read. `row_etag` is the ETag of the row, None for a new one.
    """

    number: int
    until: datetime
    blobs: Collection[UnreadBlob] = ()
    is_read: bool = False
    problems: Mapping[str, str] = field(default_factory=dict)
    row_etag: str | None = None

    def is_left_alone(self, now: datetime) -> bool:
        """Returns whether a host is reading it; a mark too far in the future doesn't count."""
        return self.is_read and now < self.until <= now + LASTS

    def is_waiting(self, now: datetime) -> bool:
        """Returns whether its message is expected to be on its way."""
        return not self.is_read and now < self.until <= now + LASTS

    def with_blobs(self, blobs: Collection[UnreadBlob], now: datetime) -> "QueuedShard":
        """Returns the shard with its present unread blobs, waiting for its message or, without one, for a new one."""
        until = self.until if self.is_waiting(now) else now + LASTS
        return replace(self, blobs=list(blobs)[:MAX_BLOBS], until=until, is_read=False)

    def claimed(self, now: datetime) -> "QueuedShard":
        return replace(self, is_read=True, until=now + LASTS)

    def given_back(self, problems: Mapping[str, str], now: datetime) -> "QueuedShard":
        """Returns the shard after a reading that left problems."""
        return replace(self, is_read=False, until=now, blobs=(), problems=problems)
