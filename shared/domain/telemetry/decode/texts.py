"""Reader of text, line by line: an invalid line is reported, and reading continues with the next.

A line that begins with `{` is JSON, of Telegraf or OTLP; a sample of Prometheus' text format is one by its shape; every
other line is line protocol. Of a text that may continue, only complete records are read: a quoted string of line
protocol may contain line ends.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from shared.domain.telemetry.decode.bundles import Bundle, BundleReader
from shared.domain.telemetry.decode.compression import Form
from shared.domain.telemetry.decode.frames import form_at
from shared.domain.telemetry.decode.json_metrics import read_json
from shared.domain.telemetry.decode.line_grammar import behind_blank_lines, read_record
from shared.domain.telemetry.decode.line_protocol import PlainLines
from shared.domain.telemetry.decode.otlp_json import is_otlp, read_otlp_json
from shared.domain.telemetry.decode.prometheus_text import (
    BLOCK,
    MAX_SAMPLE,
    SampleLines,
    block_end,
    read_block,
    read_sample,
)
from shared.domain.telemetry.records.bounds import MAX_LINE, MAX_LISTED, MAX_MISTAKES
from shared.domain.telemetry.records.metrics import InvalidPart, Metric, TextError
from shared.domain.telemetry.records.precision import Precision

_JSON = b"{"
_SPACE = b" \t\r"
_BLANK_LINES = re.compile(rb"(?:[ \r]*+\n)*+")


@dataclass(slots=True)
class Texts:
    """The result of reading a text: records, mistakes and the number of bytes consumed.

    `bundles` are records, too, which precede the others. `refused` is the reason why nothing after `consumed` can be
    read, if so. `slow` counts records that a full grammar read. `bad` counts invalid lines; `mistakes` lists only the
    first, as all lines of a text may be invalid, by their positions in it.
    """

    metrics: list[Metric] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)
    mistakes: list[InvalidPart] = field(default_factory=list)
    bad: int = 0
    slow: int = 0
    consumed: int = 0
    refused: str = ""

    def miss(self, mistakes: Sequence[InvalidPart]) -> None:
        """Records the mistakes of one line."""
        self.bad += 1
        if len(self.mistakes) < MAX_LISTED:
            self.mistakes += mistakes


class _Part(NamedTuple):
    """Text up to its last line end, or to its own end; `given` is its length including an incomplete last line.

    Within a unit, which was compressed, no compressed data begins. After `mistakes` no more is read.
    """

    text: bytes
    given: int
    ends: bool
    is_unit: bool
    mistakes: int


class TextReader:
    """A reader of one stream's texts; it optionally bundles similar records."""

    __slots__ = ("_bundler", "_plain", "_precision", "_samples", "_together")

    def __init__(self, precision: Precision, *, together: bool = False) -> None:
        self._precision = precision
        self._together = together
        self._plain = PlainLines(precision)
        self._samples: SampleLines | None = None  # as the next, made for the first text of its format
        self._bundler: BundleReader | None = None

    def read(self, text: bytes, *, ends: bool, is_unit: bool = False, mistakes: int = MAX_MISTAKES) -> Texts:
        """Reads a text from its start, where a record begins; only records that can't change unless it `ends`.

        A text that isn't a whole (decompressed) unit is read up to where compressed data begins. After `mistakes` of
        its lines no more is read.
        """
        found = Texts()
        end = len(text) if ends else text.rfind(b"\n") + 1
        if len(text) - end > MAX_LINE:
            found.refused = _TOO_LONG
        part = _Part(text[:end], len(text), ends, is_unit, mistakes)
        letters: str | None = None
        while found.consumed < end:
            if not part.text.startswith(_JSON, found.consumed):
                letters = part.text.decode("latin-1") if letters is None else letters
                found.consumed = self._plain.read_run(letters, found.consumed, found.metrics)
                if found.consumed < end:
                    self._samples = self._samples or SampleLines(self._precision)
                    found.consumed = self._samples.read_run(letters, found.consumed, found.metrics)
            if found.consumed < end and not self._read_line(part, found):
                break
        return found

    def _read_line(self, part: _Part, found: Texts) -> bool:
        """Reads one record by the full grammar; False where nothing more can be read, or enough was read."""
        text, at = part.text, _BLANK_LINES.match(part.text, found.consumed).end()  # type: ignore[union-attr]  # as in grammar
        found.consumed = at
        if at == len(text):
            return True
        stop = text.find(b"\n", at)
        stop = len(text) if stop < 0 else stop
        if stop - at > MAX_LINE:
            found.refused = _TOO_LONG
            return False
        if found.bad >= part.mistakes or not (part.is_unit or form_at(text, at) is Form.TEXT):
            return False
        found.slow += 1
        try:
            found.consumed = self._read_record(part, at, stop, found)
        except TextError as error:
            if error.is_open and not part.ends and part.given - behind_blank_lines(text, at) <= MAX_LINE:
                return False
            found.miss([InvalidPart(at, stop, error.position, error.reason)])
            found.consumed = min(stop + 1, len(text))
        return True

    def _read_record(self, part: _Part, at: int, stop: int, found: Texts) -> int:
        """Returns where the next record begins. Raises TextError."""
        text = part.text
        if text.startswith(BLOCK, at):
            return self._read_block(part, at, found)
        line = text if not at and stop >= len(text) - 1 else text[at:stop]  # avoids a copy of megabytes for a line end
        if line.lstrip(_SPACE)[:1] == _JSON:
            if is_otlp(line):
                metrics = read_otlp_json(text[at:stop])
                found.metrics += metrics
                found.slow += len(metrics)
                return min(stop + 1, len(text))
            bundles = self._bundles_of(line) if self._together and not found.metrics else None
            if bundles is not None:
                found.bundles += bundles
                return min(stop + 1, len(text))
            metrics, faults = read_json(text[at:stop], self._precision)
            found.metrics += metrics
            if faults:
                found.miss([InvalidPart(at, stop, fault.position, fault.reason) for fault in faults])
            return min(stop + 1, len(text))
        samples = read_sample(text[at:stop], self._precision) if stop - at <= MAX_SAMPLE else None
        if samples is not None:
            found.metrics += samples
            return min(stop + 1, len(text))
        try:
            metric, behind = read_record(text, at, self._precision)
        except TextError as error:
            raise TextError(error.reason, error.position - at, is_open=error.is_open) from error
        if behind - at > MAX_LINE and behind - behind_blank_lines(text, at) > MAX_LINE:
            raise TextError(_RECORD_TOO_LONG, 0)
        if metric is not None:
            found.metrics.append(metric)
        return behind

    def _bundles_of(self, line: bytes) -> list[Bundle] | None:
        self._bundler = self._bundler or BundleReader(self._precision)
        return self._bundler.read(line)

    def _read_block(self, part: _Part, at: int, found: Texts) -> int:
        """Returns where the record after a block of Prometheus' text begins. Raises TextError."""
        end = block_end(part.text, at, ends=part.ends)
        if end is None:
            raise TextError(_NO_END, 0, is_open=True)
        if end - at > MAX_LINE:
            raise TextError(_BLOCK_TOO_LONG, 0)
        metrics, faults = read_block(part.text[at:end], self._precision)
        found.metrics += metrics
        found.slow += len(metrics)
        if faults:
            found.miss([InvalidPart(at, end, fault.position, fault.reason) for fault in faults])
        return end


_NO_END = f"no line # EOF ends the exposition within {MAX_LINE:,} bytes"
_BLOCK_TOO_LONG = f"an exposition is longer than {MAX_LINE:,} bytes"
_TOO_LONG = f"a line is longer than {MAX_LINE:,} bytes"
_RECORD_TOO_LONG = f"a record is longer than {MAX_LINE:,} bytes"
