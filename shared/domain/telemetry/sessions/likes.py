"""What is told once of records that are alike, whichever blobs they stand in: nodes of a pool are much alike.

It is all of what they are like, so nothing of it is ever out of date.
"""

from dataclasses import dataclass
from sys import getsizeof

from shared.domain.telemetry.catalog.plans import Plan, plan_of
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.once_records import identity_of_tags, is_once, named
from shared.domain.telemetry.sessions.session import Writer

MOST_LIKES = 4096
_LARGEST, _MOST_BYTES = 32 << 10, 16 << 20  # of what records are like, one and all that are remembered
type Like = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """The plan for records, by whom they are, and whether they are of those told once."""

    plan: Plan
    writer: Writer
    is_once: bool


class Remembered[T]:
    """Something of records by what they are like, in bounded memory: whoever writes a blob names things at any length.

    `known` stays the same object.
    """

    __slots__ = ("_bytes", "known")

    def __init__(self) -> None:
        self.known: dict[Like, T] = {}
        self._bytes = 0

    def keep(self, like: Like, one: T) -> None:
        """Unless it is too large."""
        size = sum(getsizeof(part) for part in like if not isinstance(part, type))
        if size > _LARGEST:
            return
        if len(self.known) >= MOST_LIKES or self._bytes + size > _MOST_BYTES:
            self.known.clear()
            self._bytes = 0
        self.known[like] = one
        self._bytes += size


class Likes:
    """Shared by those who read blobs side by side."""

    __slots__ = ("_remembered",)

    def __init__(self) -> None:
        self._remembered = Remembered[Alike]()

    def of(self, like: Like, metric: Metric) -> Alike:
        """May be asked by several threads: at worst each of them tells the same."""
        known = self._remembered.known.get(like)
        if known is None:
            known = _told(metric)
            self._remembered.keep(like, known)
        return known


def _told(metric: Metric) -> Alike:
    tags = metric.tags
    identity = identity_of_tags(tags)
    writer = Writer(identity.node or named(tags.get("host", "")), identity)
    return Alike(plan_of(metric), writer, is_once(metric))
