"""Whole lines out of chunks of bytes, bounded against endless lines and free of bytes that are no UTF-8."""

from __future__ import annotations

from dataclasses import dataclass

MAX_LINE = 1 << 20
"""Bytes of a line, its line break included; longer ones are dropped. A message of OTLP in JSON is one line."""


@dataclass
class LineCounts:
    """Counts of lines since the start: whole ones, and those dropped as too long, cut off or repaired."""

    whole: int = 0
    too_long: int = 0
    cut_off: int = 0
    invalid_utf8: int = 0


class LineAssembler:
    """Collects chunks and yields whole lines; a partial last line waits for its rest."""

    def __init__(self, max_line: int = MAX_LINE) -> None:
        self._max = max_line
        self._rest = bytearray()
        self._skips = False
        self.counts = LineCounts()

    def feed(self, chunk: bytes) -> bytes:
        """Returns the whole lines that end in a chunk, each with its line break; bytes that are no UTF-8 replaced."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._keep(chunk)
            return b""
        lines = bytes(self._rest) + chunk[:end]
        self._rest.clear()
        if self._skips:
            self._skips = False
            lines = lines[lines.index(b"\n") + 1 :]
        self._keep(chunk[end:])
        return self._checked(lines)

    def finish(self) -> None:
        """Drops and counts a partial line at the end of input: a number that is cut off may be wrong."""
        self.counts.cut_off += bool(self._rest) or self._skips
        self._rest.clear()
        self._skips = False

    def _keep(self, part: bytes) -> None:
        if self._skips or not part:
            return
        self._rest += part
        if len(self._rest) >= self._max:
            self._rest.clear()
            self._skips = True
            self.counts.too_long += 1

    def _checked(self, lines: bytes) -> bytes:
        """Returns lines without those that are too long, as valid UTF-8."""
        if len(lines) > self._max:
            every = _split(lines)
            kept = [line for line in every if len(line) <= self._max]
            self.counts.too_long += len(every) - len(kept)
            lines = b"".join(kept)
        self.counts.whole += lines.count(b"\n")
        return self._valid(lines)

    def _valid(self, lines: bytes) -> bytes:
        try:
            lines.decode("utf-8")
        except UnicodeDecodeError:
            repaired = [line.decode("utf-8", "replace").encode() for line in _split(lines)]
            self.counts.invalid_utf8 += sum(line not in lines for line in repaired)
            return b"".join(repaired)
        return lines


def _split(lines: bytes) -> list[bytes]:
    """Returns lines that end with a line feed each; a carriage return is no end."""
    return [line + b"\n" for line in lines.split(b"\n")[:-1]]
