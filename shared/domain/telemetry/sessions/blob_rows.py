"""Where the rows of an incarnation of a blob are: its partition, and their keys within it."""

from datetime import datetime
from typing import NamedTuple

from shared.domain.core.keys import SEPARATOR, key_of, name_key, partition_of

_DAY = 86_400  # seconds

type SessionKey = tuple[str, int]
"""A session within a partition: the incarnation, empty where the partition is only one's, and the session's number."""


class BlobRows(NamedTuple):
    """The address of an incarnation's rows. Those of a `group` share its partition; without one it has its own."""

    account_key: str
    incarnation: str
    group: str = ""

    @property
    def partition(self) -> str:
        return partition_of(self.account_key, self.group or self.incarnation)

    @property
    def owner(self) -> str:
        """Returns the incarnation where its keys contain it, empty in a partition of its own."""
        return self.incarnation if self.group else ""

    def key(self, kind: str) -> str:
        """Returns the key of a row that an incarnation has once."""
        return f"{kind}{SEPARATOR}{self.incarnation}" if self.group else kind

    def session_key(self, number: int) -> SessionKey:
        return self.owner, number


def group_of(pool: str, node: str, created: datetime) -> str:
    """Returns the group of blobs whose names say the same node and pool, and that were created on the same day."""
    return f"{name_key(f'{key_of(pool)}\0{key_of(node)}')}-{int(created.timestamp()) // _DAY:x}"
