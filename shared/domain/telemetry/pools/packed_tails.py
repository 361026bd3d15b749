"""Packs the tails of a shard's blobs, so that any host completes the minutes that another one began."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from shared.domain.packing.compression import compressor, decompressed
from shared.domain.telemetry.catalog.series import Attributes, Series
from shared.domain.telemetry.pools.node_minutes import BlobTail, Minutes
from shared.domain.telemetry.pools.node_totals import Layout, NodeMinute, layout_of

MAX_PACKED = 700_000
"""Bytes, as a row holds a MiB. Beyond them the minutes of some blobs are left out, and read from their rows again."""
_VALUE = 12  # bytes


class _Value(NamedTuple):
    """A node's totals in a minute; `layout` is the position of its series among those of all nodes."""

    minute: int
    pool: str
    node: str
    layout: int
    sums: bytes
    counts: bytes


class _Tail(NamedTuple):
    blob: str
    end: int
    newest: int
    is_known: bool
    last: list[_Value]


class _Tails(NamedTuple):
    layouts: list[list[tuple[str, Attributes]]]
    tails: list[_Tail]


_TAILS = msgspec.msgpack.Decoder(_Tails)


def packed_tails(tails: Mapping[str, BlobTail], since: int) -> bytes:
    """Returns the tails of blobs by incarnation; of those without data `since` a minute without their minutes."""
    layouts: dict[Layout, int] = {}
    found, size = list[_Tail](), 0
    for blob, tail in sorted(tails.items(), key=lambda one: (-one[1].newest, one[0])):
        values = list(_values(tail.last, layouts)) if tail.newest >= since and size < MAX_PACKED else []
        size += sum(_VALUE * len(value.counts) // 4 for value in values)
        found.append(_Tail(blob, tail.end, tail.newest, tail.is_known, values))
    known: Sequence[list[tuple[str, Attributes]]] = [
        [(one.name, one.attributes) for one in some.series] for some in layouts
    ]
    packed: bytes = compressor().compress(msgspec.msgpack.encode(_Tails(list(known), found)))
    return packed


def unpacked_tails(packed: bytes) -> dict[str, BlobTail]:
    """Returns tails by incarnation."""
    if not packed:
        return {}
    layouts, tails = _TAILS.decode(decompressed(packed))
    known = [layout_of(tuple(Series(*one) for one in layout)) for layout in layouts]
    return {tail.blob: BlobTail(tail.end, tail.newest, tail.is_known, _minutes(tail.last, known)) for tail in tails}


def _values(last: Minutes, layouts: dict[Layout, int]) -> Iterator[_Value]:
    for minute, nodes in last.items():
        for (pool, node), one in nodes.items():
            layout = layouts.setdefault(one.layout, len(layouts))
            yield _Value(minute, pool, node, layout, one.sums.tobytes(), one.counts.tobytes())


def _minutes(values: Sequence[_Value], layouts: Sequence[Layout]) -> Minutes:
    found: dict[int, dict[tuple[str, str], NodeMinute]] = {}
    for value in values:
        one = NodeMinute(layouts[value.layout], array("d", value.sums), array("I", value.counts))
        found.setdefault(value.minute, {})[value.pool, value.node] = one
    return found
