"""Reader of the kernel's log, /dev/kmsg: never waits, survives overruns, and continues behind the last session.

Each read returns one record: `priority,sequence,microseconds,flags;text`. Only records of the kernel itself count, as
programs may write into the log as well.
"""

from __future__ import annotations

import errno
import os
from typing import NamedTuple, Protocol

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine

MAX_RECORDS = 5000
"""Records that one poll reads; the others follow at the next."""
MAX_OVERRUNS = 100
_SIZE = 16384  # bytes; the kernel's records have at most 8192
_MAX_DIGITS = 20
_NUMBERS = 3  # of a header that are read


class KernelRecord(NamedTuple):
    """A record of the kernel; `time` is in seconds since its start, `level` from 0 (emergency) to 7 (debug)."""

    sequence: int
    time: float
    level: int
    text: str


class LogFile(Protocol):
    """An open log; `read` returns one record, or raises OSError as `os.read` does: EAGAIN, EPIPE, EINVAL."""

    def read(self, size: int) -> bytes: ...


class KmsgFile:
    """The kernel's log, open without waiting. Raises UnsupportedError where it can't be read."""

    def __init__(self, machine: Machine) -> None:
        try:
            self._descriptor = os.open(machine.path("/dev/kmsg"), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise UnsupportedError(f"The kernel's log can't be read: {os.strerror(error.errno or 0)}.") from error

    def read(self, size: int) -> bytes:
        """Returns one record. Raises OSError."""
        return os.read(self._descriptor, size)

    def close(self) -> None:
        os.close(self._descriptor)


class KernelLog:
    """Reads records that are newer than a sequence number, or than a time since the kernel's start in seconds.

    `last` is the number of the last record that was read, `lost` counts those that the kernel overwrote unread.
    """

    def __init__(self, file: LogFile, *, after: int = -1, since: float = 0.0) -> None:
        self.last = after
        self.lost = 0
        self._file = file
        self._since = since
        self._is_continuous = False

    def poll(self) -> list[KernelRecord]:
        """Returns the new records of the kernel. Raises OSError for errors beyond those that logs have."""
        found: list[KernelRecord] = []
        overruns = 0
        for _ in range(MAX_RECORDS):
            try:
                line = self._file.read(_SIZE)
            except OSError as error:
                overruns += 1
                if error.errno == errno.EAGAIN or overruns > MAX_OVERRUNS:
                    return found
                if error.errno not in (errno.EPIPE, errno.EINVAL):
                    raise
                continue
            if not line:
                return found
            self._take(line, found)
        return found

    def _take(self, line: bytes, found: list[KernelRecord]) -> None:
        parsed = parsed_record(line)
        if parsed is None:
            return
        record, is_kernels = parsed
        if record.sequence <= self.last:
            return
        if self._is_continuous:
            self.lost += record.sequence - self.last - 1
        self.last, self._is_continuous = record.sequence, True
        if is_kernels and record.time >= self._since:
            found.append(record)


def parsed_record(line: bytes) -> tuple[KernelRecord, bool] | None:
    """Returns a record and whether the kernel wrote it; None where the line is no record."""
    header, separator, text = line.partition(b";")
    numbers = header.split(b",")[:_NUMBERS]
    if (
        not separator
        or len(numbers) < _NUMBERS
        or not all(len(part) <= _MAX_DIGITS and part.isdigit() for part in numbers)
    ):
        return None
    priority, sequence, microseconds = map(int, numbers)
    shown = text.split(b"\n", 1)[0].decode("utf-8", "replace")
    return KernelRecord(sequence, microseconds / 1e6, priority & 7, shown), priority >> 3 == 0
