"""The table of processes: one cheap pass over /proc/PID/stat, shared by all who need it.

No process in a table has been waited for by another one in it, so that sums of `user` and `waited_user` count nothing
twice: where a child has a lower pid than its parent, the pass reads it first and reads it again at the end if its
parent's `waited` times have grown.
"""

from __future__ import annotations

import os
from typing import Mapping, NamedTuple

from agent.machine.machine import Machine

TICK = 1_000_000 // os.sysconf("SC_CLK_TCK")
"""Microseconds of the kernel's unit of CPU time."""
PAGE = os.sysconf("SC_PAGE_SIZE")
MAX_PROCESSES = 50_000
MAX_AGE = 1_000_000_000
"""Nanoseconds for which a table is shared."""
_MAX_STAT = 2048  # bytes of a stat file


class Process(NamedTuple):
    """A process at one time.

    `start` is in ticks since boot and, with the pid, identifies the process. CPU times are in microseconds; `waited_`
    times are those of children that ended and that the process waited for. `rss` is in bytes, `faults` counts page
    faults. `state` is the kernel's letter.
    """

    pid: int
    start: int
    parent: int
    session: int
    state: str
    user: int
    system: int
    waited_user: int
    waited_system: int
    threads: int
    rss: int
    faults: int

    @property
    def own(self) -> int:
        """CPU time of the process itself, in microseconds."""
        return self.user + self.system

    @property
    def waited(self) -> int:
        """CPU time of children that it waited for, in microseconds."""
        return self.waited_user + self.waited_system


Table = Mapping[int, Process]


def same(table: Table, process: Process) -> bool:
    """Returns whether the process is in the table, not another one with its pid."""
    found = table.get(process.pid)
    return found is not None and found.start == process.start


class ProcessTable:
    """Reads the processes of a machine."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._folder = machine.path("/proc")
        self._table: Table = {}
        self._time: int | None = None

    def processes(self, now: int) -> Table:
        """Returns all processes by pid; `now` in nanoseconds. Calls within MAX_AGE get the same table."""
        if self._time is None or not 0 <= now - self._time < MAX_AGE:
            self._table, self._time = self._consistent(self._read()), now
        return self._table

    def process(self, pid: int) -> Process | None:
        """Returns a process as it is now, None where it has ended or its file makes no sense."""
        try:
            file = os.open(f"{self._folder}/{pid}/stat", os.O_RDONLY)
        except OSError:
            return None
        try:
            return process_of(os.read(file, _MAX_STAT))
        except (OSError, ValueError, IndexError):
            return None
        finally:
            os.close(file)

    def pids(self) -> list[int]:
        """Returns the pids of all processes in their order."""
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        return sorted(map(int, filter(str.isdecimal, names)))[:MAX_PROCESSES]

    def _read(self) -> dict[int, Process]:
        """Returns all processes in order of their pids, so that most parents are read before their children."""
        found = map(self.process, self.pids())
        return {process.pid: process for process in found if process}

    def _consistent(self, table: dict[int, Process]) -> Table:
        """Removes the processes that others waited for after the pass had read them."""
        while True:
            doubtful = [process for process in table.values() if self._is_doubtful(process, table)]
            ended = [process.pid for process in doubtful if not self._is_alive(process)]
            if not ended:
                return table
            for pid in ended:
                del table[pid]

    def _is_doubtful(self, process: Process, table: Table) -> bool:
        """Returns whether a process may have ended during the pass and been waited for by one that was read later."""
        parent = table.get(process.parent)
        return process.parent != 0 if parent is None else process.parent > process.pid and self._has_waited(parent)

    def _has_waited(self, parent: Process) -> bool:
        before = self._table.get(parent.pid)
        return parent.waited > (before.waited if before and before.start == parent.start else 0)

    def _is_alive(self, process: Process) -> bool:
        found = self.process(process.pid)
        return found is not None and found.start == process.start


def process_of(stat: bytes) -> Process:
    """Returns the process that a stat file describes. Raises ValueError and IndexError.

    The name stands in brackets and may hold brackets, spaces and line breaks.
    """
    head, _, tail = stat.rpartition(b")")
    field = tail.split()
    user, system, waited_user, waited_system = map(int, field[11:15])
    return Process(
        pid=int(head[: head.index(b" ")]),
        start=int(field[19]),
        parent=int(field[1]),
        session=int(field[3]),
        state=field[0].decode("ascii"),
        user=user * TICK,
        system=system * TICK,
        waited_user=max(waited_user, 0) * TICK,
        waited_system=max(waited_system, 0) * TICK,
        threads=int(field[17]),
        rss=max(int(field[21]), 0) * PAGE,
        faults=int(field[7]) + int(field[9]),
    )
