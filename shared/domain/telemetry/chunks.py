"""Rollups as they are kept: a session's minutes of an hour together, or its hours of a day, each name's series apart.

Apart, as who draws a chart wants few names of many; and packed, as a node has hundreds of series. What each step adds
is a chunk of its own. Chunks of a block are merged when they are read, in any order; so nothing is ever written over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import astuple

from shared.domain.telemetry.compression import compressor, decompressed
from shared.domain.telemetry.rollups import MINUTE, MINUTES_AN_HOUR, Rollup, Rollups, add
from shared.domain.telemetry.series import Series

MOST_CELLS = 10_000
"""Periods of series in a chunk: 55 bytes each at worst, so that a chunk fits into a row."""
HOURS_A_DAY = 24

type _Cell = tuple[int, int, float, float, float, float, int]
type _Line = tuple[tuple[tuple[str, str], ...], list[_Cell]]


@dataclass(frozen=True, slots=True)
class Grain:
    """How many nanoseconds a period has, and how many periods a block, of which a chunk is."""

    length: int
    periods: int


MINUTES = Grain(MINUTE, MINUTES_AN_HOUR)
HOURS = Grain(MINUTE * MINUTES_AN_HOUR, HOURS_A_DAY)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Something of a session in a block since 1970: an hour for minutes, a day for hours.

    `columns` by the series' name, each packed.
    """

    session: int
    block: int
    columns: Mapping[str, bytes]


@dataclass(slots=True)
class _Open:
    """A chunk that is being filled."""

    cells: int = 0
    lines: dict[str, list[_Line]] = field(default_factory=dict)


def chunks_of(session: int, rollups: Rollups, grain: Grain = MINUTES) -> list[Chunk]:
    """As many chunks for each block as its cells need."""
    opened: dict[int, list[_Open]] = {}
    packer = compressor()
    for series, periods in rollups.items():
        for block, cells in _by_block(periods, grain).items():
            chunks = opened.setdefault(block, [_Open()])
            if chunks[-1].cells + len(cells) > MOST_CELLS:
                chunks.append(_Open())
            chunks[-1].cells += len(cells)
            chunks[-1].lines.setdefault(series.name, []).append((series.attributes, cells))
    return [
        Chunk(session, block, {name: _packed(lines, packer) for name, lines in chunk.lines.items()})
        for block, chunks in sorted(opened.items())
        for chunk in chunks
    ]


def add_column(found: Rollups, name: str, block: int, packed: bytes, grain: Grain = MINUTES) -> int:
    """Merges a column of a chunk into rollups by minute or hour since 1970; gives how many it had."""
    lines = msgspec.msgpack.decode(decompressed(packed), type=list[_Line])
    for attributes, cells in lines:
        periods = found.setdefault(Series(name, attributes), {})
        for within, count, low, high, total, last, last_at in cells:
            period = block * grain.periods + within
            add(periods, period, Rollup(count, low, high, total, last, last_at + period * grain.length))
    return sum(len(cells) for _, cells in lines)


def cells_of(rollups: Mapping[int, Rollups]) -> int:
    """How many periods of series there are, of all sessions."""
    return sum(len(periods) for some in rollups.values() for periods in some.values())


def _by_block(periods: Mapping[int, Rollup], grain: Grain) -> dict[int, list[_Cell]]:
    found: dict[int, list[_Cell]] = {}
    width, length = grain.periods, grain.length
    for period in sorted(periods):
        count, low, high, total, last, last_at = astuple(periods[period])
        block, within = divmod(period, width)
        cell = (within, count, low, high, total, last, last_at - period * length)
        cells = found.get(block)
        if cells is None:
            found[block] = [cell]
        else:
            cells.append(cell)
    return found


def _packed(lines: list[_Line], packer: Any) -> bytes:
    """Whole numbers, which are shorter, as they are, but for those that are too large."""
    try:
        raw = msgspec.msgpack.encode(lines)
    except OverflowError:
        raw = msgspec.msgpack.encode(
            [(attributes, [_of_floats(cell) for cell in cells]) for attributes, cells in lines]
        )
    packed: bytes = packer.compress(raw)
    return packed


def _of_floats(cell: _Cell) -> _Cell:
    within, count, low, high, total, last, last_at = cell
    return within, count, float(low), float(high), float(total), float(last), last_at
