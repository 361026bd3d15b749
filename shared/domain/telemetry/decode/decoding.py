"""Decoder from a blob's bytes to records, in steps: a step can be stored together with its end offset.

A compressed unit may come in several steps, as its text may hold very many records; it is stored with the last of them.

A reader passes the bytes from the end of the last step, at least WINDOW of them if the blob has as many, and may stop
after any step. The content of a step doesn't depend on how the bytes were split, except for its number of text lines.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.domain.telemetry.decode.bundles import Bundle
from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.frames import CUT_SHORT, Searches, Unit, form_at, may_wait, text_end, units_of
from shared.domain.telemetry.decode.texts import TextReader, Texts
from shared.domain.telemetry.records.bounds import MAX_LISTED, MAX_MISTAKES, STEP, TEXT_A_LINE
from shared.domain.telemetry.records.metrics import InvalidPart, Metric
from shared.domain.telemetry.records.precision import Precision

_HALF = "a unit ends before it is whole"
_TOO_MANY = f"{MAX_MISTAKES:,} lines before this make no sense"


@dataclass(frozen=True, slots=True)
class Step:
    """The content of bytes `start` to `end` of a blob: `bundles` of records, followed by single ones.

    `bad` counts invalid lines or units, `rejected` lists the first of them. Where more of a unit follows, the step is
    `part_of` the unit that ends there, and its own end is the unit's start. Where it `is_refused`, nothing after the
    end can be read, except what follows the line that begins there (`in_line`). `text` is the size of a compressed
    unit's text, in bytes plus some for each line, set with its end.
    """

    start: int
    end: int
    metrics: Sequence[Metric]
    rejected: tuple[InvalidPart, ...] = ()
    is_refused: bool = False
    bundles: Sequence[Bundle] = ()
    bad: int = 0
    part_of: int | None = None
    in_line: bool = False
    text: int = 0

    @property
    def records(self) -> int:
        return len(self.metrics) + sum(map(len, self.bundles))


class Decoder:
    """A decoder of one stream (a blob), whose time stamps may have any precision.

    With `together`, similar records come in bundles where possible. Text is read in pieces of `size` bytes, or a longer
    line as a whole.
    """

    __slots__ = ("_size", "_texts")

    def __init__(self, *, together: bool = False, size: int = STEP) -> None:
        self._size = size
        self._texts = TextReader(Precision(), together=together)

    def steps(self, stored: bytes, offset: int, *, is_last: bool = False) -> Iterator[Step]:
        """Yields steps of bytes at an offset of a blob, 0 or the end of a step; an incomplete rest waits for more.

        With `is_last` nothing follows: the last line needs no line end, and an incomplete unit is rejected. A UTF-8
        byte order mark at the blob's start is skipped. Where much is damaged, the generator ends early, after a step.
        """
        at, before = len(BOM_UTF8) if not offset and stored.startswith(BOM_UTF8) else 0, -1
        searches = Searches()
        while before < at < len(stored):
            before = at
            for step in self._alike(stored, at, offset, searches, is_last=is_last):
                yield step
                if step.is_refused or (searches.are_enough and step.part_of is None):
                    return
                at = step.end - offset
        if at < len(stored) and is_last and not searches.are_enough:
            yield _rejected_unit(InvalidPart(at, len(stored), len(stored) - at, CUT_SHORT), offset)

    def _alike(self, stored: bytes, at: int, offset: int, searches: Searches, *, is_last: bool) -> Iterator[Step]:
        """Yields steps up to where text ends and compressed data begins, or more bytes are needed."""
        for unit in units_of(stored, at, searches, is_last=is_last):
            if isinstance(unit, InvalidPart):
                yield _rejected_unit(unit, offset)
            elif unit.form is Form.TEXT:
                yield from self._text(stored, unit.start, offset, searches, is_last=is_last)
            else:
                yield from self._compressed(unit, offset)

    def _text(self, stored: bytes, at: int, offset: int, searches: Searches, *, is_last: bool) -> Iterator[Step]:
        size, is_lost, is_first = self._size, False, searches.are_none
        while at < len(stored) and form_at(stored, at) is Form.TEXT:
            most = min(at + size, len(stored))
            until = text_end(stored, at, most, searches, is_last=is_last or is_lost)
            if searches.are_enough and not is_first:
                return  # the next pass reads on from here, with a full search budget
            ends = until.is_end or (is_last and until.place == len(stored))
            found = self._texts.read(stored[at : until.place], ends=ends)
            if found.consumed or found.refused:
                yield _text_step(found, offset + at)
            elif until.is_end:  # too few bytes for text
                found.consumed = until.place - at
                yield _rejected_unit(InvalidPart(at, until.place, 0, _HALF), offset)
            if found.refused:
                return
            if found.consumed:
                at, size, is_lost, is_first = at + found.consumed, self._size, False, searches.are_none
            elif until.waits:
                if may_wait(stored, at):
                    return
                is_lost = True  # no window is large enough to decide
            elif until.place == len(stored):
                return
            else:
                size = _longer(stored, at, until.place - at)

    def _compressed(self, unit: Unit, offset: int) -> Iterator[Step]:
        at, bad, is_over = 0, 0, False
        size = max(self._size, unit.text.find(b"\n") + 1)  # a batch is one line and needs no copy
        while not is_over:
            found = self._texts.read(unit.text[at : at + size], ends=at + size >= len(unit.text), is_unit=True)
            is_over = at + found.consumed == len(unit.text)
            if bad + found.bad >= MAX_MISTAKES and not is_over:
                found.refused = found.refused or _TOO_MANY
            is_over = is_over or bool(found.refused)
            if found.consumed or is_over:
                yield _unit_step(unit, found, offset, at, is_over=is_over, listed=bad)
            at, bad = at + found.consumed, bad + found.bad
            size = self._size if found.consumed else _longer(unit.text, at, size)


def _unit_step(unit: Unit, found: Texts, offset: int, at: int, *, is_over: bool, listed: int) -> Step:
    """Returns the step for text at a position of a unit, after `listed` bad lines of it."""
    start, end = offset + unit.start, offset + unit.end
    rejected = [InvalidPart(start, end, at + line.start + line.position, line.reason, compressed=True)
                for line in found.mistakes[: max(MAX_LISTED - listed, 0)]]  # fmt: skip
    if found.refused:
        rejected.append(InvalidPart(start, end, at + found.consumed, found.refused, compressed=True))
    bad = found.bad + bool(found.refused)
    if not is_over:
        return Step(start, start, found.metrics, tuple(rejected), bundles=found.bundles, bad=bad, part_of=end)
    text = len(unit.text) + TEXT_A_LINE * unit.text.count(b"\n")
    return Step(start, end, found.metrics, tuple(rejected), bundles=found.bundles, bad=bad, text=text)


def _longer(stored: bytes, at: int, size: int) -> int:
    """Returns the length of the line at a position; twice the size where a record may span several lines."""
    line = stored.find(b"\n", at) + 1 - at
    return line if line > size else 2 * size


def _text_step(found: Texts, offset: int) -> Step:
    end, is_refused = offset + found.consumed, bool(found.refused)
    rejected = [line.shifted(offset) for line in found.mistakes]
    if is_refused:
        rejected.append(InvalidPart(end, end, 0, found.refused))
    bad = found.bad + is_refused
    return Step(offset, end, found.metrics, tuple(rejected), is_refused, found.bundles, bad, in_line=is_refused)


def _rejected_unit(unit: InvalidPart, offset: int) -> Step:
    rejected = unit.shifted(offset)
    return Step(rejected.start, rejected.end, (), (rejected,), is_refused=unit.start == unit.end, bad=1)
