"""Decoder from a blob's bytes to records, in steps: a step can be stored together with its end offset.

A compressed unit may come in several steps, as its text may hold very many records; it is stored with the last of them.

A reader passes the bytes from the end of the last step, at least WINDOW of them if the blob has as many, and may stop
after any step. The content of a step doesn't depend on how the bytes were split, except for its number of text lines.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.domain.telemetry.decode.bundles import Bundle
from shared.domain.telemetry.decode.compression import Form, UnitError
from shared.domain.telemetry.decode.frames import TAIL, SearchBudget, Unit, form_at, is_full, next_unit, read_unit
from shared.domain.telemetry.decode.texts import TextReader, Texts
from shared.domain.telemetry.records.bounds import MAX_LISTED, MAX_MISTAKES, SLOW_RECORD, STEP, TEXT_A_LINE, UNIT
from shared.domain.telemetry.records.metrics import InvalidPart, Metric
from shared.domain.telemetry.records.precision import Precision

_ANY_PRECISION = Precision()
_CUT_SHORT = "the blob ends within a unit"
_HALF = "a unit ends before it is whole"
_TOO_MANY = f"{MAX_MISTAKES:,} lines before this make no sense"


@dataclass(frozen=True, slots=True)
class Step:
    """The content of bytes `start` to `end` of a blob: `bundles` of records, followed by single ones.

    `bad` counts invalid lines or units, `rejected` lists the first of them. Where more of a unit follows, the step is
    `part_of` the unit that ends there, and its own end is the unit's start. `in_line`: the end is the start of an
    overlong line, and only the bytes after it can be read. `in_damage`: the end is within damage, and the next unit
    must be searched for from there on; `lost` bytes contain none. `work` is the size of the text in bytes, plus some
    for each line and each record that takes long.
    """

    start: int
    end: int
    metrics: Sequence[Metric]
    rejected: tuple[InvalidPart, ...] = ()
    bundles: Sequence[Bundle] = ()
    bad: int = 0
    part_of: int | None = None
    in_line: bool = False
    in_damage: bool = False
    lost: int = 0
    work: int = 0

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
        self._texts = TextReader(_ANY_PRECISION, together=together)

    def steps(self, stored: bytes, offset: int, *, is_last: bool = False, in_damage: bool = False) -> Iterator[Step]:
        """Yields steps of bytes at an offset of a blob, 0 or the end of a step; an incomplete rest waits for more.

        With `is_last` nothing follows: the last line needs no line end, and an incomplete unit is rejected. A UTF-8
        byte order mark at the blob's start is skipped. `in_damage` as the last step says. After a step that ends in a
        line or in damage, the next call continues.
        """
        at, before = len(BOM_UTF8) if not offset and stored.startswith(BOM_UTF8) else 0, -1
        budget = SearchBudget()
        if in_damage:
            step = _behind_damage(stored, offset, budget, is_last=is_last)
            if step.end > offset:
                yield step
            if step.in_damage:
                return
            at = step.end - offset
        while before < at < len(stored):
            before = at
            for step in self._alike(stored, at, offset, budget, is_last=is_last):
                yield step
                if step.in_line or step.in_damage:
                    return
                at = step.end - offset

    def _alike(self, stored: bytes, at: int, offset: int, budget: SearchBudget, *, is_last: bool) -> Iterator[Step]:
        """Yields the steps of one compressed unit, or of text up to the next one; none where more bytes are needed."""
        form = form_at(stored, at)
        if form is Form.TEXT:
            yield from self._text(stored, at, offset, budget, is_last=is_last)
            return
        try:
            unit = read_unit(stored, at, form) if form else None
        except UnitError as error:
            budget.charge(error.looked)
            yield from _damage(stored, at, offset, error, budget, is_last=is_last)
            return
        if unit and form is Form.OTLP and not unit.text:
            work = UNIT + unit.end - unit.start + SLOW_RECORD * len(unit.metrics)
            yield Step(offset + unit.start, offset + unit.end, unit.metrics, work=work)
        elif unit:
            yield from self._compressed(unit, offset)
        elif is_last:
            yield from _damage(stored, at, offset, UnitError(_CUT_SHORT, 0), budget, is_last=is_last)

    def _text(self, stored: bytes, at: int, offset: int, budget: SearchBudget, *, is_last: bool) -> Iterator[Step]:
        """Yields steps of text up to the next compressed unit, such as after a line that was cut short."""
        size = self._size
        while at < len(stored) and form_at(stored, at) is Form.TEXT:
            most = min(at + size, len(stored))
            behind = next_unit(stored, at, most, budget, is_last=is_last or is_full(stored, at))
            until = most if behind.start is None or behind.exhausted else behind.start
            is_end = behind.is_known
            found = self._texts.read(stored[at:until], ends=is_end or (is_last and until == len(stored)))
            if found.consumed or found.refused:
                yield _text_step(found, offset + at, _work_of(stored[at : at + found.consumed], found))
            elif is_end:  # too few bytes for text
                found.consumed = until - at
                yield _rejected_unit(InvalidPart(at, until, 0, _HALF), offset)
            if found.refused:
                return
            if found.consumed:
                at, size = at + found.consumed, self._size
            elif behind.undecided or until == len(stored):
                return
            else:
                size = _longer(stored, at, until - at)

    def _compressed(self, unit: Unit, offset: int) -> Iterator[Step]:
        at, bad, is_over = 0, 0, False
        size = max(self._size, unit.text.find(b"\n") + 1)  # a batch is one line and needs no copy
        while not is_over:
            ends, mistakes = at + size >= len(unit.text), MAX_MISTAKES - bad
            found = self._texts.read(unit.text[at : at + size], ends=ends, is_unit=True, mistakes=mistakes)
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
    work = _work_of(unit.text[at : at + found.consumed], found)
    if not is_over:
        return Step(start, start, found.metrics, tuple(rejected), found.bundles, bad, part_of=end, work=work)
    return Step(start, end, found.metrics, tuple(rejected), found.bundles, bad, work=UNIT + work)


def _work_of(text: bytes, found: Texts) -> int:
    return len(text) + TEXT_A_LINE * text.count(b"\n") + SLOW_RECORD * found.slow


def _longer(stored: bytes, at: int, size: int) -> int:
    """Returns the length of the line at a position; twice the size where a record may span several lines."""
    line = stored.find(b"\n", at) + 1 - at
    return line if line > size else 2 * size


def _text_step(found: Texts, offset: int, work: int) -> Step:
    end, is_refused = offset + found.consumed, bool(found.refused)
    rejected = [line.shifted(offset) for line in found.mistakes]
    if is_refused:
        rejected.append(InvalidPart(end, end, 0, found.refused))
    bad = found.bad + is_refused
    return Step(offset, end, found.metrics, tuple(rejected), found.bundles, bad, in_line=is_refused, work=work)


def _damage(
    stored: bytes, at: int, offset: int, error: UnitError, budget: SearchBudget, *, is_last: bool
) -> Iterator[Step]:
    """Yields a step from a damaged unit to the next whole one; none where more bytes may contain that."""
    behind = next_unit(stored, at + 1, len(stored), budget, is_last=is_last)
    if not (behind.is_known or behind.exhausted or is_last or is_full(stored, at)):
        return
    end, reason = behind.start, error.reason
    in_damage = behind.exhausted or not (is_last or behind.is_known)
    if end is None:
        end = len(stored) if is_last else max(len(stored) - TAIL, at + 1)
    if in_damage:
        reason = f"{reason}; no unit that can be read was found in {end - at:,} bytes"
    part = InvalidPart(at, end, error.position, reason, compressed=True)
    yield _rejected_unit(part, offset, in_damage=in_damage, lost=end - at if in_damage else 0)


def _behind_damage(stored: bytes, offset: int, budget: SearchBudget, *, is_last: bool) -> Step:
    """Returns a step to the next whole unit, or to where the search continues."""
    behind = next_unit(stored, 0, len(stored), budget, is_last=is_last)
    end = behind.start
    if end is None:
        end = len(stored) if is_last else max(len(stored) - TAIL, 0)
    return Step(offset, offset + end, (), in_damage=not behind.is_known, lost=end)


def _rejected_unit(unit: InvalidPart, offset: int, *, in_damage: bool = False, lost: int = 0) -> Step:
    rejected = unit.shifted(offset)
    return Step(rejected.start, rejected.end, (), (rejected,), bad=1, in_damage=in_damage, lost=lost)
