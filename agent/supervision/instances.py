"""The registry of the agents that run on this node: a folder with one file for each.

A file counts only while the process that it names runs: the same boot, the same process number and the same start time.
It must belong to the process's owner, so that nobody can have the agent of another user end a process.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.supervision.folders import opened_file, replace_file

MAX_INSTANCES = 256
"""Files that are read of a registry."""
MAX_LOCK_WAIT = 2.0
"""Seconds after which an agent goes on without the lock: a start must never hang."""
_MAX_SIZE, _RETRY = 4096, 0.05
_BOOT = "/proc/sys/kernel/random/boot_id"
_DEAD = ("Z", "X", "x")
_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat behind the name


class Instance(NamedTuple):
    """An agent's supervising process. `started` is in clock ticks since boot, `task` empty for a start task's agent.

    `sequence` grows with each registration, so that the greatest is the newest.
    """

    pid: int
    started: int
    boot: str
    task: str
    version: str
    sequence: int

    @property
    def age(self) -> tuple[int, int, int]:
        """The order of agents by age; it differs even where two registered at once, without the lock."""
        return self.sequence, self.started, self.pid


class Registry:
    """Registers agents in `folder`, which only this user can write."""

    def __init__(self, folder: str, machine: Machine, clock: Clock) -> None:
        self._folder = f"{folder}/instances"
        self._machine = machine
        self._clock = clock

    def register(self, task: str, version: str, pid: int) -> Instance:
        """Registers a process as the newest agent and returns it. Raises OSError, and ValueError if it doesn't run."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        started = self._started(pid)
        if started is None:
            raise ValueError(f"The process {pid} doesn't run or can't be read.")
        with self._lock():
            sequence = 1 + max((other.sequence for other in self.running()), default=0)
            one = Instance(pid, started, self._machine.optional_text(_BOOT), task, version, sequence)
            replace_file(self._path(pid), json.dumps(one._asdict()).encode())
        return one

    def running(self) -> list[Instance]:
        """Returns the agents that run, oldest first; files of those that ended are removed."""
        names = [name for name in self._names() if name.endswith(".json")]
        found = [self._read(name) for name in names[:MAX_INSTANCES]]
        return sorted((one for one in found if one), key=lambda one: one.age)

    def is_running(self, one: Instance) -> bool:
        """Returns whether the very process of an instance still runs, not another one with its number."""
        return one.boot == self._machine.optional_text(_BOOT) and one.started == self._started(one.pid)

    def remove(self, one: Instance) -> None:
        """Removes an instance's file; a missing one is no error."""
        with suppress(OSError):
            os.unlink(self._path(one.pid))

    def _names(self) -> list[str]:
        try:
            return sorted(os.listdir(self._folder))
        except OSError:
            return []

    def _read(self, name: str) -> Instance | None:
        """Returns the instance of a file if its process runs; removes the file of one that doesn't."""
        path = f"{self._folder}/{name}"
        try:
            content, owner = opened_file(path, _MAX_SIZE)
            one = _decoded(content)
        except (OSError, ValueError):
            return None
        if not self.is_running(one):
            with suppress(OSError):
                os.unlink(path)
            return None
        return one if owner == self._owner(one.pid) else None

    def _path(self, pid: int) -> str:
        return f"{self._folder}/{pid}.json"

    def _started(self, pid: int) -> int | None:
        """Returns when a process started, in ticks since boot; None if it ended or can't be read."""
        try:
            fields = self._machine.text(f"/proc/{pid}/stat").rpartition(")")[2].split()
            return None if fields[_STATE] in _DEAD else int(fields[_STARTED])
        except (OSError, ValueError, IndexError):
            return None

    def _owner(self, pid: int) -> int:
        """Returns the number of a process's owner, -1 if it can't be read."""
        try:
            return os.stat(self._machine.path(f"/proc/{pid}")).st_uid
        except OSError:
            return -1

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Holds the registry's lock, or continues without it after MAX_LOCK_WAIT. Raises OSError."""
        lock = os.open(f"{self._folder}/lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            until = self._clock.monotonic() + MAX_LOCK_WAIT
            while not _is_locked(lock) and self._clock.monotonic() < until:
                self._clock.sleep(_RETRY)
            yield
        finally:
            os.close(lock)


def _is_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _decoded(content: bytes) -> Instance:
    """Returns the instance that a file holds. Raises ValueError."""
    found = json.loads(content)
    if not isinstance(found, dict):
        raise ValueError("no object")  # noqa: TRY004 - of a file, not of a caller
    one = Instance(*(found.get(name) for name in Instance._fields))  # type: ignore[arg-type]
    numbers = (one.pid, one.started, one.sequence)
    texts = (one.boot, one.task, one.version)
    if not all(type(number) is int and number > 0 for number in numbers) or one.pid == 1:
        raise ValueError("no process")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("no names")
    return one
