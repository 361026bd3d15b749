"""The exit accounting of processes, gathered from records of their threads."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agent.tasks.process_table import Table

MAX_PENDING = 50_000
"""Processes whose accounting is kept at the same time; the oldest goes first."""


class Exit(NamedTuple):
    """The use of a process itself, without its children: CPU times in microseconds, its peak memory and I/O in bytes.

    `parent` is its parent when its last thread ended.
    """

    pid: int
    parent: int
    cpu: int
    user: int
    peak: int
    read: int
    written: int

    def plus(self, later: Exit) -> Exit:
        """Returns the sum with the record of a thread that ended later."""
        return Exit(
            self.pid,
            later.parent,
            self.cpu + later.cpu,
            self.user + later.user,
            max(self.peak, later.peak),
            self.read + later.read,
            self.written + later.written,
        )


class ExitedProcesses:
    """Sums the records of threads by process until a table shows that the process has ended."""

    def __init__(self) -> None:
        self._pending: OrderedDict[int, Exit] = OrderedDict()

    def add(self, records: Iterable[Exit]) -> None:
        """Takes records of threads; must be called after the table of the same sample was read.

        A process that a table lacks has left its records by then, so that none of it comes with the next sample.
        """
        for record in records:
            before = self._pending.get(record.pid)
            self._pending[record.pid] = before.plus(record) if before else record
        while len(self._pending) > MAX_PENDING:
            self._pending.popitem(last=False)

    def take(self, pid: int) -> Exit | None:
        """Removes and returns the accounting of a process, None where there is none."""
        return self._pending.pop(pid, None)

    def unseen(self, table: Table) -> Mapping[int, Exit]:
        """Removes and returns the accounting of all processes that aren't in the table."""
        found: dict[int, Exit] = {pid: exit_ for pid, exit_ in self._pending.items() if pid not in table}
        for pid in found:
            del self._pending[pid]
        return found
