"""Follows a file that another program appends to, an OpenTelemetry Collector's file exporter for instance.

The file may be rotated by a new name or emptied in place. The position is kept in a small state file: after a restart
reading goes on where it ended, in the renamed file first. Lines of the last moments before a crash may come twice.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from agent.records.record import Value
from agent.supervision.folders import opened_file, replace_file
from agent.telegraf.delivery import Sink
from agent.telegraf.lines import LineAssembler
from agent.telegraf.rotation import next_file, rotated_files

MAX_LINE = 4 << 20
"""Bytes of a line: the exporter writes a whole batch of metrics as one."""
MAX_STEP = 4 << 20
"""Bytes that are read in one step."""
_CHUNK, _ANCHOR, _MAX_STATE = 1 << 16, 64, 4096


class Position(NamedTuple):
    """Where reading goes on: a file by its device and inode, the offset, and a checksum of the bytes before it."""

    device: int
    inode: int
    offset: int
    anchor: int


class Tail:
    """Hands the whole lines of the file `path` to `sink`, and keeps its position in the file `state`."""

    def __init__(self, path: str, state: str, sink: Sink, *, max_line: int = MAX_LINE) -> None:
        self._path = path
        self._state = state
        self._sink = sink
        self._lines = LineAssembler(max_line)
        self._file = -1
        self._offset = 0
        self._restarts = 0
        self._gaps = 0
        self._resume(_loaded(state))

    def step(self) -> int:
        """Hands on what was appended since, at most MAX_STEP bytes, and returns the bytes that were read.

        Raises what the sink raises; the same lines then come again.
        """
        self._follow_rotation()
        if self._file < 0:
            return 0
        self._notice_truncation()
        start, state = self._offset, self._lines.state()
        try:
            self._hand_on(self._read())
        except Exception:
            self._offset = start
            self._lines.restore(state)
            raise
        if self._offset != start and not self._lines.is_skipping:
            self._save()
        return self._offset - start

    def fields(self) -> Mapping[str, Value]:
        """Returns counts since the start, as a record's fields."""
        counts = self._lines.counts
        return {
            "lines": counts.whole,
            "too_long": counts.too_long,
            "cut_off": counts.cut_off,
            "invalid_utf8": counts.invalid_utf8,
            "restarts": self._restarts,
            "gaps": self._gaps,
        }

    def follow(self, stop: Callable[[float], bool], seconds: float, log: Callable[[str], None]) -> None:
        """Steps every `seconds` until `stop`, which waits so long, returns True; then reads the rest."""
        is_over = False
        while not is_over:
            is_over = stop(seconds)
            try:
                while self.step() >= MAX_STEP and not is_over:
                    is_over = stop(0.0)
            except Exception as error:  # a full disk or a missing file passes
                log(f"{self._path} can't be followed at present: {type(error).__name__}: {error}.")

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _resume(self, position: Position | None) -> None:
        """Opens the file of a position, under its present name; without it, the start of `path`."""
        if position is None:
            return
        for name in (self._path, *rotated_files(self._path)):
            self._open(name)
            if self._file >= 0 and self._is_at(position):
                self._offset = position.offset
                return
        self.close()
        self._gaps += 1

    def _open(self, name: str) -> None:
        self.close()
        with suppress(OSError):
            self._file = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            self._offset = 0

    def _is_at(self, position: Position) -> bool:
        found = os.fstat(self._file)
        same = (found.st_dev, found.st_ino) == (position.device, position.inode) and found.st_size >= position.offset
        return same and _anchor(self._file, position.offset) == position.anchor

    def _follow_rotation(self) -> None:
        """Opens the next file if the present one is read to its end and `path` is another one."""
        if self._file < 0:
            self._open(self._path)
            return
        found = os.fstat(self._file)
        if found.st_size > self._offset or _identity(self._path) in (None, (found.st_dev, found.st_ino)):
            return
        self._lines.finish()
        self._open(next_file(self._path, found))
        self._save()

    def _notice_truncation(self) -> None:
        if os.fstat(self._file).st_size < self._offset:
            self._lines.finish()
            self._offset = 0
            self._restarts += 1

    def _read(self) -> bytes:
        """Reads on and returns the whole lines."""
        found, limit = [], self._offset + MAX_STEP
        while self._offset < limit:
            chunk = os.pread(self._file, _CHUNK, self._offset)
            if not chunk:
                break
            self._offset += len(chunk)
            found.append(self._lines.feed(chunk))
        return b"".join(found)

    def _hand_on(self, lines: bytes) -> None:
        if lines:
            self._sink.put(lines, lines.count(b"\n"))

    def _save(self) -> None:
        """Keeps the position of the last whole line; where it can't, lines may come twice after a restart."""
        found, offset = os.fstat(self._file), self._offset - self._lines.pending
        position = Position(found.st_dev, found.st_ino, offset, _anchor(self._file, offset))
        with suppress(OSError):
            replace_file(self._state, json.dumps(position).encode())


def _loaded(state: str) -> Position | None:
    try:
        numbers = json.loads(opened_file(state, _MAX_STATE)[0])
        if isinstance(numbers, list) and all(type(number) is int and number >= 0 for number in numbers):
            return Position(*numbers)
    except (OSError, ValueError, TypeError):
        return None
    return None


def _anchor(file: int, offset: int) -> int:
    start = max(offset - _ANCHOR, 0)
    return zlib.crc32(os.pread(file, offset - start, start))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
