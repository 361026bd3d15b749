"""A cache of properties that similar records share, across blobs: the nodes of a pool send similar records.

They follow from the cache key alone, so they never become stale.
"""

from dataclasses import dataclass
from sys import getsizeof

from shared.domain.telemetry.catalog.field_mappings import FieldMapping, mapping_of
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.records.startup_records import identity_of_tags, is_once, named
from shared.domain.telemetry.sessions.event_records import is_event
from shared.domain.telemetry.sessions.session import Writer

MAX_SHAPES = 4096
_MAX, _MAX_BYTES = 32 << 10, 16 << 20  # of one cache key, and of all keys
type ShapeKey = tuple[object, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RecordShape:
    """The plan for records, their writer, and whether they are startup records or events.

    The writer of an event is the node, whichever task it struck, as many tasks leave no room for sessions of others.
    """

    plan: FieldMapping
    writer: Writer
    is_once: bool
    is_event: bool


class BoundedCache[T]:
    """A cache by the shape of records, in bounded memory: names in a blob may have any length.

    `known` always remains the same object.
    """

    __slots__ = ("_bytes", "known")

    def __init__(self) -> None:
        self.known: dict[ShapeKey, T] = {}
        self._bytes = 0

    def keep(self, key: ShapeKey, one: T) -> None:
        """Caches an entry unless its key is too large."""
        size = sum(getsizeof(part) for part in key if not isinstance(part, type))
        if size > _MAX:
            return
        if len(self.known) >= MAX_SHAPES or self._bytes + size > _MAX_BYTES:
            self.known.clear()
            self._bytes = 0
        self.known[key] = one
        self._bytes += size


class ShapeCache(BoundedCache[RecordShape]):
    """A cache that readers of several blobs share."""

    __slots__ = ()

    def of(self, key: ShapeKey, metric: Metric) -> RecordShape:
        """Returns the properties of similar records; thread-safe, as threads at worst compute equal values twice."""
        known = self.known.get(key)
        if known is None:
            known = _shape_of(metric)
            if not known.plan.is_of_ended_attempt:
                self.keep(key, known)
        return known


def _shape_of(metric: Metric) -> RecordShape:
    tags = metric.tags
    identity = identity_of_tags(tags)
    writer, of_event = Writer(identity.node or named(tags.get("host", "")), identity), is_event(metric)
    return RecordShape(mapping_of(metric), writer.of_node if of_event else writer, is_once(metric), of_event)
