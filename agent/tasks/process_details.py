"""Details from a process's own files, beside its line in the table: peak memory, I/O, open files.

They are read again only if the process used CPU or its memory changed since, so sleepers cost nothing. PSS isn't read:
the kernel walks all of a process's pages for it (milliseconds a GiB) and meanwhile holds a lock that the process needs.
"""

from __future__ import annotations

from typing import NamedTuple

from agent.machine.machine import Machine
from agent.tasks.process_table import Process, Table, same

MAX_FILES = 4096
"""Open files of a process that are counted: listing 20,000 takes 33 ms."""
_TURNS = 6  # passes after which open files are counted again
_MAX_FILE = 8192
_CHILD_SIGNAL = 1 << 16  # SIGCHLD in masks of signals


class Details(NamedTuple):
    """Peak memory and I/O in bytes, None where this user may not read them.

    `files` counts open files up to MAX_FILES, 0 where it isn't known. `ignores_children` says that SIGCHLD is ignored,
    so that nobody waits for the process's children.
    """

    peak: int = 0
    read: int | None = None
    written: int | None = None
    files: int = 0
    ignores_children: bool = False


class ProcessDetails:
    """Reads details of processes, and keeps them while a process is idle."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._turn = 0
        self._kept: dict[int, tuple[Process, Details]] = {}

    def begin(self, table: Table) -> None:
        """Begins a pass: forgets the processes that aren't in the table."""
        self._turn += 1
        self._kept = {pid: kept for pid, kept in self._kept.items() if same(table, kept[0])}

    def of(self, process: Process) -> Details:
        """Returns the details of a process; those that can't be read keep their last values."""
        before, kept = self._kept.get(process.pid, (None, Details()))
        if before is None or _activity(before) != _activity(process):
            kept = self._read(process.pid, kept, counts_files=before is None or self._is_turn(process.pid))
            self._kept[process.pid] = (process, kept)
        return kept

    def _is_turn(self, pid: int) -> bool:
        return (self._turn + pid) % _TURNS == 0

    def _read(self, pid: int, kept: Details, *, counts_files: bool) -> Details:
        status, io = self._content(pid, "status"), self._content(pid, "io")
        peak, read, written = (
            _figure(status, b"\nVmHWM:"),
            _figure(io, b"\nread_bytes:"),
            _figure(io, b"\nwrite_bytes:"),
        )
        return Details(
            kept.peak if peak is None else peak * 1024,
            kept.read if read is None else read,
            kept.written if written is None else written,
            self._machine.count(f"/proc/{pid}/fd", MAX_FILES) if counts_files else kept.files,
            bool((_figure(status, b"\nSigIgn:", 16) or 0) & _CHILD_SIGNAL),
        )

    def _content(self, pid: int, name: str) -> bytes:
        try:
            return self._machine.content(f"/proc/{pid}/{name}", _MAX_FILE)
        except OSError:
            return b""


def _activity(process: Process) -> tuple[int, int, int]:
    return (process.own + process.waited, process.rss, process.faults)


def _figure(content: bytes, name: bytes, base: int = 10) -> int | None:
    """Returns the number behind a line's name, None where there is none; the name of a process can't begin a line."""
    at = content.find(name)
    try:
        return int(content[at + len(name) :].split(None, 1)[0], base) if at >= 0 else None
    except (ValueError, IndexError):
        return None
