"""Packed rollups: a session's minutes of an hour, or its hours of a day, with one column per series name.

Columns are separate because a chart needs few of many names, and packed because a node has hundreds of series. Each
step adds a chunk of its own. A reader merges the chunks of a block in any order, so no chunk is ever overwritten.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from shared.domain.packing.compression import compressor, decompressed
from shared.domain.telemetry.catalog.series import Attributes, series_of
from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, Rollup, Rollups, add

MAX_CELLS = 10_000
"""Periods of series in a chunk: at most 55 bytes each, so that a chunk fits into a row."""
HOURS_A_DAY = 24
MINUTES, HOURS = MINUTES_AN_HOUR, HOURS_A_DAY
"""Periods in a block: the minutes of an hour, or the hours of a day."""


class _Line(NamedTuple):
    """A series of a chunk: the positions of its periods within the block, and their rollups."""

    attributes: Attributes
    places: list[int]
    rollups: list[Rollup]


_LINES = msgspec.msgpack.Decoder(list[_Line])


@dataclass(frozen=True, slots=True)
class Chunk:
    """Packed rollups of a session in a block since 1970: an hour for minutes, a day for hours.

    `columns` holds a packed column for each series name. `owner` is the incarnation with the session, as loaded from a
    partition that several share; otherwise empty.
    """

    session: int
    block: int
    columns: Mapping[str, bytes]
    owner: str = ""


@dataclass(slots=True)
class _Open:
    """A chunk under construction."""

    cells: int = 0
    lines: dict[str, list[_Line]] = field(default_factory=dict)


def chunks_of(session: int, rollups: Rollups, width: int = MINUTES) -> list[Chunk]:
    """Returns as many chunks per block as its cells need."""
    opened: dict[int, list[_Open]] = {}
    packer = compressor()
    for series, periods in rollups.items():
        for block, places, some in _by_block(periods, width):
            chunks = opened.setdefault(block, [_Open()])
            if chunks[-1].cells + len(some) > MAX_CELLS:
                chunks.append(_Open())
            chunks[-1].cells += len(some)
            chunks[-1].lines.setdefault(series.name, []).append(_Line(series.attributes, places, some))
    return [
        Chunk(session, block, {name: _packed(lines, packer) for name, lines in chunk.lines.items()})
        for block, chunks in sorted(opened.items())
        for chunk in chunks
    ]


def add_column(found: Rollups, name: str, block: int, packed: bytes, width: int = MINUTES) -> int:
    """Merges a chunk's column into rollups by minute or hour since 1970; returns its number of periods."""
    lines = _LINES.decode(decompressed(packed))
    for attributes, places, rollups in lines:
        periods = found.setdefault(series_of(name, attributes), {})
        for place, rollup in zip(places, rollups, strict=True):
            add(periods, block * width + place, rollup)
    return sum(len(line.places) for line in lines)


def _by_block(periods: Mapping[int, Rollup], width: int) -> Iterator[tuple[int, list[int], list[Rollup]]]:
    """Yields blocks since 1970, with the positions of periods within each, and their rollups."""
    ordered, begin = sorted(periods), 0
    while begin < len(ordered):
        block = ordered[begin] // width
        first = block * width
        end = bisect_left(ordered, first + width, begin)
        some = ordered[begin:end]
        yield block, [period - first for period in some], [periods[period] for period in some]
        begin = end


def _packed(lines: list[_Line], packer: Any) -> bytes:
    """Packs lines with whole numbers, which are shorter; with floats throughout if one exceeds 64 bits."""
    try:
        raw = msgspec.msgpack.encode(lines)
    except OverflowError:
        raw = msgspec.msgpack.encode(
            [(attributes, places, [_of_floats(one) for one in rollups]) for attributes, places, rollups in lines]
        )
    packed: bytes = packer.compress(raw)
    return packed


def _of_floats(one: Rollup) -> Rollup:
    return replace(one, min=float(one.min), max=float(one.max), sum=float(one.sum), last=float(one.last))
