"""Text becomes records, line by line; a line that makes no sense is told of, and the next one is read.

A line that begins with `{` is JSON, every other one line protocol. Of a text that may go on, only whole records
are taken: a quoted string of line protocol may hold ends of lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.domain.telemetry.decode.bundles import Bundle, Bundler
from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.frames import form_at
from shared.domain.telemetry.decode.json_metrics import read_json
from shared.domain.telemetry.decode.line_grammar import behind_blank_lines, read_record
from shared.domain.telemetry.decode.line_protocol import PlainLines
from shared.domain.telemetry.records.bounds import MOST_LINE, MOST_LISTED, MOST_MISTAKES
from shared.domain.telemetry.records.metrics import Metric, TextError
from shared.domain.telemetry.records.precision import Precision

_JSON = b"{"
_SPACE = b" \t\r"
_BLANK_LINES = re.compile(rb"(?:[ \r]*+\n)*+")


class Mistake(NamedTuple):
    """A line from `start` to `end` of a text, where within it something makes no sense, and why."""

    start: int
    end: int
    position: int
    reason: str


@dataclass(slots=True)
class Texts:
    """What was read of a text: records, mistakes and the bytes taken.

    `bundles` are records, too, which stand before the others. `refused` tells why nothing behind `taken` can be read,
    if that is so. Of `bad` lines `mistakes` tell of the first, as all lines of a text may be bad.
    """

    metrics: list[Metric] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    bad: int = 0
    taken: int = 0
    refused: str = ""

    def miss(self, mistakes: Sequence[Mistake]) -> None:
        """Notes what is wrong with one line."""
        self.bad += 1
        if len(self.mistakes) < MOST_LISTED:
            self.mistakes += mistakes


class _Part(NamedTuple):
    """Text up to the end of its last whole line, `given` bytes with the half one behind it, or to its own end.

    In a unit, which was compressed, nothing compressed begins.
    """

    text: bytes
    given: int
    ends: bool
    is_unit: bool


class TextReader:
    """Reads the texts of one stream; records that are alike come together if that is wanted."""

    __slots__ = ("_bundler", "_plain", "_precision")

    def __init__(self, precision: Precision, *, together: bool = False) -> None:
        self._precision = precision
        self._bundler = Bundler(precision) if together else None
        self._plain = PlainLines(precision)

    def read(self, text: bytes, *, ends: bool, is_unit: bool = False) -> Texts:
        """Reads a text from its begin, where a record begins, to its end; only what can't change unless it `ends`.

        One that isn't a whole unit, as those that were compressed are, is read up to where something compressed begins.
        """
        found = Texts()
        end = len(text) if ends else text.rfind(b"\n") + 1
        if len(text) - end > MOST_LINE:
            found.refused = _TOO_LONG
        part = _Part(text[:end], len(text), ends, is_unit)
        letters: str | None = None
        while found.taken < end:
            if not part.text.startswith(_JSON, found.taken):
                letters = part.text.decode("latin-1") if letters is None else letters
                found.taken = self._plain.read_run(letters, found.taken, found.metrics)
            if found.taken < end and not self._read_line(part, found):
                break
        return found

    def _read_line(self, part: _Part, found: Texts) -> bool:
        """Reads one record by the full grammar; False where nothing more can be read, or there is enough."""
        text, at = part.text, _BLANK_LINES.match(part.text, found.taken).end()  # type: ignore[union-attr]  # as in grammar
        found.taken = at
        if at == len(text):
            return True
        stop = text.find(b"\n", at)
        stop = len(text) if stop < 0 else stop
        if stop - at > MOST_LINE:
            found.refused = _TOO_LONG
            return False
        if found.bad >= MOST_MISTAKES or not (part.is_unit or form_at(text, at) is Form.TEXT):
            return False
        try:
            found.taken = self._read_record(text, at, stop, found)
        except TextError as error:
            if error.is_open and not part.ends and part.given - behind_blank_lines(text, at) <= MOST_LINE:
                return False
            found.miss([Mistake(at, stop, error.position, error.reason)])
            found.taken = min(stop + 1, len(text))
        return True

    def _read_record(self, text: bytes, at: int, stop: int, found: Texts) -> int:
        """Where the next record begins. Raises TextError."""
        line = text if not at and stop >= len(text) - 1 else text[at:stop]  # of megabytes no copy for an end of line
        if line.lstrip(_SPACE)[:1] == _JSON:
            bundles = self._bundler.read(line) if self._bundler and not found.metrics else None
            if bundles is not None:
                found.bundles += bundles
                return min(stop + 1, len(text))
            metrics, faults = read_json(text[at:stop], self._precision)
            found.metrics += metrics
            if faults:
                found.miss([Mistake(at, stop, fault.position, fault.reason) for fault in faults])
            return min(stop + 1, len(text))
        try:
            metric, behind = read_record(text, at, self._precision)
        except TextError as error:
            raise TextError(error.reason, error.position - at, is_open=error.is_open) from error
        if behind - at > MOST_LINE and behind - behind_blank_lines(text, at) > MOST_LINE:
            raise TextError(_RECORD_TOO_LONG, 0)
        if metric is not None:
            found.metrics.append(metric)
        return behind


_TOO_LONG = f"a line is longer than {MOST_LINE:,} bytes"
_RECORD_TOO_LONG = f"a record is longer than {MOST_LINE:,} bytes"
