"""Blocks: ten minutes of all metrics of the nodes of one pool and one shard of blobs, in a fixed number of parts.

A block says of each node and blob what it measured in each minute. What a blob contributed is overwritten as a whole,
never added to, so a block is a function of its blobs' rows, whatever was projected again, late or twice. Beside the
minutes, a part has the totals of the ten minutes, which longer ranges read alone.
"""

from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from shared.domain.packing.compression import compressor, decompressed
from shared.domain.telemetry.catalog.series import Attributes, Kind, Series
from shared.domain.telemetry.pools.node_metrics import kind_of
from shared.domain.telemetry.pools.node_totals import NodeMinute

MINUTES = 10
"""Minutes of a block."""
PARTS = 4
"""Parts of a block, of some names of metrics each."""
MAX_NAMES = 60
"""Names of metrics in a part, the first in order: two columns each, and a row has 252."""
MAX_LINES = 40
"""Metrics of a name, the first in order: custom metrics share two names."""
MAX_PART = 800_000
"""Bytes of a part, as a row holds a MiB; names that come later in order are left out."""


class Source(NamedTuple):
    """A contributor to a block: a node's key, and the digest of a blob's incarnation."""

    node: str
    blob: str


class Line(NamedTuple):
    """A metric of a block: sums and numbers of values, by source and then by minute.

    Of the ten minutes together, the counts of a counter are masks of the minutes with growth.
    """

    attributes: Attributes
    counts: "array[int]"
    sums: "array[float]"


class PackedPart(NamedTuple):
    """A part of a block: its sources, and by name of metric its lines of minutes, and of the whole block.

    `metrics` are the names and attributes of the lines; rows of earlier versions have none.
    """

    sources: bytes
    minutes: dict[str, bytes]
    totals: dict[str, bytes]
    metrics: bytes = b""

    @property
    def size(self) -> int:
        """Returns the number of bytes."""
        return len(self.sources) + len(self.metrics) + sum(map(len, (*self.minutes.values(), *self.totals.values())))


class _PackedLine(NamedTuple):
    attributes: Attributes
    counts: bytes
    sums: bytes


@dataclass(frozen=True, slots=True)
class BlockChange:
    """What a blob contributes to some minutes of a block, by node and minute."""

    blob: str
    minutes: Collection[int]
    nodes: Mapping[str, Mapping[int, NodeMinute]]


_SOURCES = msgspec.msgpack.Decoder(list[Source])
_LINES = msgspec.msgpack.Decoder(list[_PackedLine])
_METRICS = msgspec.msgpack.Decoder(list[tuple[str, Attributes]])


@dataclass(slots=True)
class PoolBlock:
    """A block under change; `number` counts blocks since 1970."""

    number: int
    sources: list[Source] = field(default_factory=list)
    lines: dict[Series, Line] = field(default_factory=dict)

    def replace(self, change: BlockChange) -> None:
        """Replaces what a blob contributed to some minutes, all within the block."""
        first = self.number * MINUTES
        for at, source in enumerate(self.sources):
            if source.blob == change.blob:
                self._clear([at * MINUTES + minute - first for minute in change.minutes])
        for node, known in change.nodes.items():
            at = self._place_of(Source(node, change.blob)) * MINUTES - first
            for minute, values in known.items():
                self._set(at + minute, values)

    def packed(self) -> dict[int, PackedPart]:
        """Returns the parts that have any values; equal contents have equal parts."""
        kept = [at for at in range(len(self.sources)) if self._has(at)]
        kept.sort(key=self.sources.__getitem__)
        packer = compressor()
        sources = packer.compress(msgspec.msgpack.encode([self.sources[at] for at in kept]))
        by_name: dict[str, list[Line]] = {}
        for metric, line in sorted(self.lines.items(), key=lambda one: (one[0].name, one[0].attributes)):
            if any(line.counts):
                by_name.setdefault(metric.name, []).append(_ordered(line, kept))
        found: dict[int, PackedPart] = {}
        for name, lines in by_name.items():
            part = found.setdefault(part_of(name), PackedPart(sources, {}, {}))
            minutes = _packed(lines[:MAX_LINES], packer)
            totals = _packed([_totals(line, kind_of(name)) for line in lines[:MAX_LINES]], packer)
            if len(part.minutes) < MAX_NAMES and part.size + len(minutes) + len(totals) <= MAX_PART:
                part.minutes[name], part.totals[name] = minutes, totals
        return {at: part._replace(metrics=_packed_metrics(part, by_name, packer)) for at, part in found.items()}

    @classmethod
    def unpacked(cls, number: int, parts: Iterable[PackedPart]) -> "PoolBlock":
        """Returns the block of packed parts, whose sources may differ."""
        block = cls(number)
        for part in parts:
            places = [block._place_of(source) for source in sources_of(part.sources)]
            for name, packed in part.minutes.items():
                for line in lines_of(packed):
                    block._put(Series(name, line.attributes), line, places)
        return block

    def _put(self, metric: Series, line: Line, places: Sequence[int]) -> None:
        counts, sums = (
            array("I", bytes(4 * MINUTES * len(self.sources))),
            array("d", bytes(8 * MINUTES * len(self.sources))),
        )
        for at, place in enumerate(places):
            begin, own = place * MINUTES, at * MINUTES
            counts[begin : begin + MINUTES] = line.counts[own : own + MINUTES]
            sums[begin : begin + MINUTES] = array("d", line.sums[own : own + MINUTES])
        self.lines[metric] = Line(line.attributes, counts, sums)

    def _place_of(self, source: Source) -> int:
        try:
            return self.sources.index(source)
        except ValueError:
            self.sources.append(source)
            for line in self.lines.values():
                line.counts.extend([0] * MINUTES)
                line.sums.extend([0.0] * MINUTES)
            return len(self.sources) - 1

    def _clear(self, places: Collection[int]) -> None:
        for line in self.lines.values():
            for place in places:
                line.counts[place], line.sums[place] = 0, 0.0

    def _set(self, place: int, values: NodeMinute) -> None:
        for metric, total, count in values.metrics:
            line = self.lines.get(metric)
            if line is None:
                size = MINUTES * len(self.sources)
                line = Line(metric.attributes, array("I", bytes(4 * size)), array("d", bytes(8 * size)))
                self.lines[metric] = line
            line.counts[place], line.sums[place] = count, total

    def _has(self, at: int) -> bool:
        begin = at * MINUTES
        return any(any(line.counts[begin : begin + MINUTES]) for line in self.lines.values())


def part_of(name: str) -> int:
    """Returns the part that has the metrics of a name."""
    return crc32(name.encode()) % PARTS


def sources_of(packed: bytes) -> list[Source]:
    return _SOURCES.decode(decompressed(packed)) if packed else []


def lines_of(packed: bytes) -> list[Line]:
    """Returns the lines of a column, of minutes or of whole blocks."""
    found = _LINES.decode(decompressed(packed)) if packed else []
    return [Line(one.attributes, array("I", one.counts), array("f", one.sums)) for one in found]


def metrics_of(packed: bytes) -> list[Series]:
    """Returns the metrics of a part."""
    return [Series(*one) for one in _METRICS.decode(decompressed(packed))] if packed else []


def _ordered(line: Line, kept: Sequence[int]) -> Line:
    """Returns a line with the minutes of some sources, in their order."""
    if kept == list(range(len(line.counts) // MINUTES)):
        return line
    counts, sums = array("I"), array("d")
    for at in kept:
        counts += line.counts[at * MINUTES : (at + 1) * MINUTES]
        sums += line.sums[at * MINUTES : (at + 1) * MINUTES]
    return Line(line.attributes, counts, sums)


def _totals(line: Line, kind: Kind) -> Line:
    """Returns the totals of each source over its minutes."""
    counts, sums = array("I"), array("d")
    for begin in range(0, len(line.counts), MINUTES):
        own = line.counts[begin : begin + MINUTES]
        counts.append(sum(own) if kind is Kind.GAUGE else sum(1 << at for at, count in enumerate(own) if count))
        sums.append(sum(line.sums[begin : begin + MINUTES]))
    return Line(line.attributes, counts, sums)


def _packed_metrics(part: PackedPart, by_name: Mapping[str, Sequence[Line]], packer: Any) -> bytes:
    listed = [(name, line.attributes) for name in part.minutes for line in by_name[name][:MAX_LINES]]
    packed: bytes = packer.compress(msgspec.msgpack.encode(listed))
    return packed


def _packed(lines: Sequence[Line], packer: Any) -> bytes:
    raw = [_PackedLine(one.attributes, one.counts.tobytes(), array("f", one.sums).tobytes()) for one in lines]
    packed: bytes = packer.compress(msgspec.msgpack.encode(raw))
    return packed
