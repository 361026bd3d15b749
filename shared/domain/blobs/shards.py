"""Shards: a fixed division of an account's blobs by a hash of their names, for work that hosts share."""

from shared.domain.core.keys import name_key

SHARDS = 64
_DIGITS = 8


def shard_of(blob_name: str) -> int:
    """Returns a blob's shard, from 0 to below `SHARDS`, the same on each host and for each incarnation."""
    return int(name_key(blob_name)[:_DIGITS], 16) % SHARDS
