"""From the bytes of a blob to records, step by step: a step can be kept together with where it ends.

A compressed unit may come in parts, as its text may be of very many records; it is kept with the last of them.

A reader hands over what it has from the end of the last step on, WINDOW bytes at least where the blob has as many, and
stops between two steps whenever it likes. What a step holds doesn't depend on how bytes were cut, only how many lines
of text there are in one does.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.domain.telemetry.decode.bundles import Bundle
from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.frames import CUT_SHORT, Searches, Unit, form_at, may_wait, text_end, units_of
from shared.domain.telemetry.decode.texts import TextReader, Texts
from shared.domain.telemetry.records.bounds import MOST_LISTED, MOST_MISTAKES, STEP, TEXT_A_LINE
from shared.domain.telemetry.records.metrics import Metric, Rejected
from shared.domain.telemetry.records.precision import Precision

_HALF = "a unit ends before it is whole"
_TOO_MANY = f"{MOST_MISTAKES:,} lines before this make no sense"


@dataclass(frozen=True, slots=True)
class Step:
    """What bytes `start` to `end` of a blob hold: `bundles` of records, and behind them single ones.

    So many lines, or units, are `bad`; `rejected` tells of the first of them. Where more of a unit follows, the step is
    `part_of` one that ends there, and ends itself where that begins. Where it `is_refused`, nothing behind the end can
    be read, but for what is behind the line that begins there (`in_line`). `text` is how much text a compressed unit
    has, in bytes and some more for each line, told with its end.
    """

    start: int
    end: int
    metrics: Sequence[Metric]
    rejected: tuple[Rejected, ...] = ()
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
    """Reads one stream, a blob, whose time stamps may be of any precision.

    With `together` records that are alike come in bundles, where they can. Text is read so many bytes at a time, or a
    line where that is longer.
    """

    __slots__ = ("_size", "_texts")

    def __init__(self, *, together: bool = False, size: int = STEP) -> None:
        self._size = size
        self._texts = TextReader(Precision(), together=together)

    def steps(self, stored: bytes, offset: int, *, is_last: bool = False) -> Iterator[Step]:
        """Steps of bytes that begin at an offset of a blob, where a step ended or at 0; what is left waits for more.

        With `is_last` nothing will follow: the end of a text needs no end of line, and half a unit is rejected. A mark
        of UTF-8 at the begin of a blob is passed over. Where very much is damaged it ends early, behind a step.
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
            start, end = offset + at, offset + len(stored)
            yield Step(start, end, (), (Rejected(start, end, end - start, CUT_SHORT),), bad=1)

    def _alike(self, stored: bytes, at: int, offset: int, searches: Searches, *, is_last: bool) -> Iterator[Step]:
        """Steps up to where text ends and something compressed begins, or more bytes are needed."""
        for unit in units_of(stored, at, searches, is_last=is_last):
            if isinstance(unit, Rejected):
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
                return  # what begins here is looked at with all that may be looked at in vain
            ends = until.is_end or (is_last and until.place == len(stored))
            found = self._texts.read(stored[at : until.place], ends=ends)
            if found.taken or found.refused:
                yield _text_step(found, offset + at)
            elif until.is_end:  # too few bytes to be text
                found.taken = until.place - at
                yield _rejected_unit(Rejected(at, until.place, 0, _HALF), offset)
            if found.refused:
                return
            if found.taken:
                at, size, is_lost, is_first = at + found.taken, self._size, False, searches.are_none
            elif until.waits:
                if may_wait(stored, at):
                    return
                is_lost = True  # no window holds what would tell
            elif until.place == len(stored):
                return
            else:
                size = _longer(stored, at, until.place - at)

    def _compressed(self, unit: Unit, offset: int) -> Iterator[Step]:
        at, bad, is_over = 0, 0, False
        size = max(self._size, unit.text.find(b"\n") + 1)  # a batch is a line, and needs no copy
        while not is_over:
            found = self._texts.read(unit.text[at : at + size], ends=at + size >= len(unit.text), is_unit=True)
            is_over = at + found.taken == len(unit.text)
            if bad + found.bad >= MOST_MISTAKES and not is_over:
                found.refused = found.refused or _TOO_MANY
            is_over = is_over or bool(found.refused)
            if found.taken or is_over:
                yield _unit_step(unit, found, offset, at, is_over=is_over, listed=bad)
            at, bad = at + found.taken, bad + found.bad
            size = self._size if found.taken else _longer(unit.text, at, size)


def _unit_step(unit: Unit, found: Texts, offset: int, at: int, *, is_over: bool, listed: int) -> Step:
    """Of what was found at a place of a unit's text; so many bad lines of it are listed already, or counted."""
    start, end = offset + unit.start, offset + unit.end
    rejected = [Rejected(start, end, at + line.start + line.position, line.reason, compressed=True)
                for line in found.mistakes[: max(MOST_LISTED - listed, 0)]]  # fmt: skip
    if found.refused:
        rejected.append(Rejected(start, end, at + found.taken, found.refused, compressed=True))
    bad = found.bad + bool(found.refused)
    if not is_over:
        return Step(start, start, found.metrics, tuple(rejected), bundles=found.bundles, bad=bad, part_of=end)
    text = len(unit.text) + TEXT_A_LINE * unit.text.count(b"\n")
    return Step(start, end, found.metrics, tuple(rejected), bundles=found.bundles, bad=bad, text=text)


def _longer(stored: bytes, at: int, size: int) -> int:
    """How many bytes a line has that begins at a place; twice as many as looked at where it may be of several lines."""
    line = stored.find(b"\n", at) + 1 - at
    return line if line > size else 2 * size


def _text_step(found: Texts, offset: int) -> Step:
    rejected = [Rejected(offset + line.start, offset + line.end, line.position, line.reason) for line in found.mistakes]
    end = offset + found.taken
    if found.refused:
        rejected.append(Rejected(end, end, 0, found.refused))
    is_refused = bool(found.refused)
    bad = found.bad + is_refused
    return Step(offset, end, found.metrics, tuple(rejected), is_refused, found.bundles, bad, in_line=is_refused)


def _rejected_unit(unit: Rejected, offset: int) -> Step:
    start, end = offset + unit.start, offset + unit.end
    rejected = Rejected(start, end, unit.position, unit.reason, compressed=unit.compressed)
    return Step(start, end, (), (rejected,), is_refused=start == end, bad=1)
