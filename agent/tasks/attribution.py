"""Which processes belong to which Batch task.

A process belongs to the task that its environment names, else to its parent's, else to that of its session's leader,
else to the only task of its container. It keeps its task when it leaves the session or init adopts it. What can't be
attributed: a process whose environment was cleared and that left both its parent and its session between two samples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from agent.machine.machine import Machine
from agent.machine.process_name import has_name
from agent.tasks.batch_environment import MAX_ENVIRONMENT, BatchTask, task_of_environment
from agent.tasks.process_table import Process, Table

_MAX_READS = 2
_CONTAINER = re.compile(r"[0-9a-f]{64}")
_AMBIGUOUS = BatchTask("", "")


class _ProcessFacts:
    """The known facts of a process."""

    __slots__ = ("container", "is_own", "reads", "session", "start", "task")

    def __init__(self, process: Process) -> None:
        self.start = process.start
        self.session = process.session
        self.task: BatchTask | None = None
        self.is_own = False  # of an agent
        self.reads = 0
        self.container = ""


class Attribution:
    """Attributes processes to tasks; `own` returns the pids of the agent. No agent belongs to a task.

    `unreadable` counts the processes whose environment this user may not read.
    """

    def __init__(self, machine: Machine, own: Callable[[], Collection[int]] = tuple) -> None:
        self._machine = machine
        self._own = own
        self._known: dict[int, _ProcessFacts] = {}
        self._sessions: dict[int, BatchTask] = {}
        self._containers: dict[str, BatchTask] = {}
        self.unreadable = 0

    def update(self, table: Table) -> dict[int, BatchTask]:
        """Returns the task of each process that has one, by pid.

        An environment is read when a process is first seen. Where it names no task it is read once more with the next
        table, as a process has its parent's environment between fork and exec.
        """
        self._forget(table)
        own = frozenset(self._own())
        for process in sorted(self._open(table), key=_order):
            known = self._known.setdefault(process.pid, _ProcessFacts(process))
            known.reads += 1
            known.is_own = process.pid in own or self.is_own(process.parent)
            known.task = None if known.is_own else self._found(process, known)
            if known.task and has_name(self._machine, process.pid):
                known.is_own, known.task = True, None
            self._learn(process, known)
        return {pid: known.task for pid, known in self._known.items() if known.task}

    def is_own(self, pid: int) -> bool:
        """Returns whether a process is an agent's."""
        known = self._known.get(pid)
        return known is not None and known.is_own

    def _forget(self, table: Table) -> None:
        """Forgets processes that ended, and the sessions and containers that ended with them."""
        kept = {pid: known for pid, known in self._known.items() if pid in table and table[pid].start == known.start}
        if len(kept) == len(self._known):
            return
        self._known = kept
        sessions: set[int] = {process.session for process in table.values()}
        containers = {known.container for known in kept.values()}
        self._sessions = {session: task for session, task in self._sessions.items() if session in sessions}
        self._containers = {name: task for name, task in self._containers.items() if name in containers}

    def _open(self, table: Table) -> list[Process]:
        """Returns the processes that aren't attributed for good."""
        found = []
        for process in table.values():
            known = self._known.get(process.pid)
            if known is None or (known.task is None and known.reads < _MAX_READS):
                found.append(process)
        return found

    def _found(self, process: Process, known: _ProcessFacts) -> BatchTask | None:
        parent = self._known.get(process.parent)
        return (
            self._named(process.pid, is_first=known.reads == 1)
            or (parent and parent.task)
            or self._sessions.get(process.session)
            or self._of_container(process.pid, known)
        )

    def _named(self, pid: int, *, is_first: bool) -> BatchTask | None:
        """Returns the task that a process's environment names."""
        try:
            return task_of_environment(self._machine.content(f"/proc/{pid}/environ", MAX_ENVIRONMENT))
        except PermissionError:
            self.unreadable += is_first
        except OSError:  # it ended
            pass
        return None

    def _of_container(self, pid: int, known: _ProcessFacts) -> BatchTask | None:
        known.container = known.container or container_of(self._machine.optional_text(f"/proc/{pid}/cgroup"))
        task = self._containers.get(known.container)
        return None if task is _AMBIGUOUS else task

    def _learn(self, process: Process, known: _ProcessFacts) -> None:
        """Learns from an attributed process whose its session and its container are."""
        if known.task is None:
            return
        if process.session == process.pid:
            self._sessions[process.session] = known.task
        known.container = known.container or container_of(self._machine.optional_text(f"/proc/{process.pid}/cgroup"))
        if known.container and self._containers.setdefault(known.container, known.task) != known.task:
            self._containers[known.container] = _AMBIGUOUS


def container_of(cgroup: str) -> str:
    """Returns the id of the container in the text of /proc/PID/cgroup, empty where there is none."""
    found = _CONTAINER.search(cgroup)
    return found.group() if found else ""


def _order(process: Process) -> tuple[int, int]:
    """Orders parents before their children."""
    return (process.start, process.pid)
