"""The attempts of tasks: which processes belong to which run of a task, and which of them ended since the last table.

A process belongs to its parent's attempt. One whose parent isn't of its task begins a new attempt if the last one's
first process has ended and a launcher started this one, so a daemon that outlives its run doesn't take part in the next
one. A process that init or a subreaper adopted was started by a member that ended; it belongs to the last attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import NamedTuple

from agent.tasks.batch_environment import BatchTask
from agent.tasks.cumulative_counter import NOBODY, UNKNOWN
from agent.tasks.exited_processes import Exit, ExitedProcesses
from agent.tasks.identity import TaskIdentity
from agent.tasks.process_table import TICK, Process, Table, same

MAX_ATTEMPTS = 512
"""Attempts that are followed at the same time; a node runs at most 256 tasks at once."""
MAX_STARTS = 10_000
"""Tasks whose last start is kept, so that each attempt has its own."""
_INIT = 1
_MAX_DEPTH = 64  # processes that started each other and ended between two samples


class Departure(NamedTuple):
    """A process that ended: as it was last read (None if it never was), who can have waited for it, its accounting."""

    pid: int
    waiter: int
    process: Process | None
    exit: Exit | None


class Attempt:
    """A run of a task; `members` are its living processes. `start` is in seconds since 1970."""

    def __init__(self, task: BatchTask, first: Process, start: int) -> None:
        self.identity = TaskIdentity(task.job, task.task, str(start))
        self.kind = task.kind
        self.task = task
        self.start = start
        self.first = first
        self.is_adopted = first.parent == _INIT
        """Whether this is its first table and whoever started its first process isn't known."""
        self.members: dict[int, Process] = {}
        self.departures: list[Departure] = []
        self.ancestors: set[int] = set()
        """Pids outside of the attempt that its members descend from: only they can wait for its orphans."""
        self.foreign: dict[int, int] = {}
        """By pid of a member, CPU time in microseconds of its ended children that aren't of the attempt."""

    @property
    def has_launcher(self) -> bool:
        """Whether another process ran that started its first one; else this may be what an ended one left behind."""
        return self.first.parent != _INIT

    def is_followed_by(self, process: Process) -> bool:
        """Returns whether a process that no member started belongs to the task's next attempt."""
        is_launched = process.parent == self.first.parent or process.parent not in self.ancestors
        if not self.members:
            return is_launched
        return is_launched and process.parent != _INIT and not same(self.members, self.first)


class Attempts:
    """Follows the attempts on a node; `boot_time` returns the whole second since 1970 in which it booted."""

    def __init__(self, boot_time: Callable[[], int]) -> None:
        self._boot_time = boot_time
        self._table: Table = {}
        self._by_pid: dict[int, Attempt] = {}
        self._latest: dict[BatchTask, Attempt] = {}
        self._starts: dict[BatchTask, int] = {}
        self.live: list[Attempt] = []
        self.vanished: list[Process] = []
        """All processes of the node that ended since the last table."""
        self._strays: dict[int, int] = {}

    def update(self, table: Table, tasks: Mapping[int, BatchTask], exited: ExitedProcesses | None = None) -> None:
        """Brings the attempts up to date with a table, the tasks of its processes, and their exit accounting."""
        self.live = [attempt for attempt in self.live if attempt.members]
        self._latest = {task: attempt for task, attempt in self._latest.items() if attempt.members}
        self.vanished = [process for process in self._table.values() if not same(table, process)]
        gone = {process.pid: self._by_pid.pop(process.pid, None) for process in self.vanished}
        for attempt in self.live:
            attempt.departures, attempt.foreign, attempt.is_adopted = [], {}, False
            attempt.members = {pid: table[pid] for pid in attempt.members if pid not in gone}
        self._join(table, tasks)
        for process in self.vanished:
            self._depart(table, process, gone[process.pid], exited.take(process.pid) if exited else None)
        self._place(table, exited.unseen(table) if exited else {}, gone)
        self._table = table

    @property
    def members(self) -> Container[int]:
        """The pids of all living members."""
        return self._by_pid

    def unattributed(self, ancestors: Container[int]) -> int:
        """Returns the CPU time in microseconds of ended processes, never seen, that may be of an attempt.

        One whose parent lives on, and is neither a member nor an ancestor of a member, counts as of none: an orphan's
        parent is an ancestor, too. Only its environment, which ended with it, could have named the task all the same.
        """
        return sum(cpu for parent, cpu in self._strays.items() if parent == UNKNOWN or parent in ancestors)

    def attempt_of(self, pid: int) -> Attempt | None:
        """Returns the attempt of a process that lives."""
        return self._by_pid.get(pid)

    def _join(self, table: Table, tasks: Mapping[int, BatchTask]) -> None:
        new = [table[pid] for pid in tasks if pid not in self._by_pid and pid in table]
        for process in sorted(new, key=lambda one: (one.start, one.pid)):
            attempt = self._joined(process, tasks[process.pid])
            if attempt:
                attempt.members[process.pid] = process
                if self._by_pid.get(process.parent) is not attempt:
                    attempt.ancestors.update(_ancestors(table, process))
                self._by_pid[process.pid] = attempt

    def _joined(self, process: Process, task: BatchTask) -> Attempt | None:
        parent, latest = self._by_pid.get(process.parent), self._latest.get(task)
        if parent and parent.task == task:
            return parent
        if latest and not latest.is_followed_by(process):
            return latest
        return self._begun(task, process) if len(self.live) < MAX_ATTEMPTS else None

    def _begun(self, task: BatchTask, first: Process) -> Attempt:
        """Begins an attempt, with a second of its own even where the last one lasted for less."""
        start = max(self._boot_time() + first.start * TICK // 1_000_000, self._starts.pop(task, -1) + 1)
        attempt = Attempt(task, first, start)
        self._latest[task], self._starts[task] = attempt, start
        while len(self._starts) > MAX_STARTS:
            del self._starts[next(iter(self._starts))]
        self.live.append(attempt)
        return attempt

    def _depart(self, table: Table, process: Process, attempt: Attempt | None, exit_: Exit | None) -> None:
        """Notes the end of a process with its attempt, and with that of its parent where this is another one."""
        parent = self._table.get(process.parent)
        is_alive = parent is None or same(table, parent)
        waiter = self._by_pid.get(process.parent) if is_alive else None
        if attempt:
            there = UNKNOWN if not is_alive else process.parent if waiter is attempt else NOBODY
            attempt.departures.append(Departure(process.pid, there, process, exit_))
        if waiter and waiter is not attempt:
            used = process.own + process.waited
            waiter.foreign[process.parent] = waiter.foreign.get(process.parent, 0) + used

    def _place(self, table: Table, unseen: Mapping[int, Exit], gone: Mapping[int, Attempt | None]) -> None:
        """Notes the ends of processes that no table has shown."""
        self._strays = {}
        for pid, exit_ in unseen.items():
            attempt, parent = self._owner(exit_, unseen, gone)
            if attempt:
                waiter = exit_.parent if exit_.parent in attempt.members else UNKNOWN
                attempt.departures.append(Departure(pid, waiter, None, exit_))
            else:
                known = self._table.get(parent)
                parent = parent if known and same(table, known) else UNKNOWN
                self._strays[parent] = self._strays.get(parent, 0) + exit_.cpu

    def _owner(
        self, exit_: Exit, unseen: Mapping[int, Exit], gone: Mapping[int, Attempt | None]
    ) -> tuple[Attempt | None, int]:
        """Returns the attempt of a process that no table has shown, None where it isn't known, and its first ancestor.

        That is the first one upwards that isn't such a process itself.
        """
        parent = exit_.parent
        for _ in range(_MAX_DEPTH):
            attempt = self._by_pid.get(parent) or gone.get(parent)
            if attempt or parent not in unseen:
                return attempt, parent
            parent = unseen[parent].parent
        return None, UNKNOWN


def _ancestors(table: Table, process: Process) -> set[int]:
    found: set[int] = set()
    while process.parent in table and process.parent not in found:
        process = table[process.parent]
        found.add(process.pid)
    return found
