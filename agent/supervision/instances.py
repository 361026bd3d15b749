"""The registry of the agents that run on this node: a folder with one file for each.

A file counts only while the process that it names runs: the same boot, the same process number and the same start time.
It must belong to the process's owner, so that nobody can have the agent of another user end a process. Containers may
share the folder: a file's name says in which pid namespace its number counts, and other namespaces leave it alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
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
MAX_AGE = 3600.0
"""Seconds since its last renewal after which a file of another pid namespace is removed."""
_MAX_SIZE, _RETRY = 4096, 0.05
_BOOT, _NAMESPACE = "/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"
_LOCK = "lock"
_DEAD = ("Z", "X", "x")
_STATE, _STARTED = 0, 19  # fields of /proc/PID/stat behind the name


class Instance(NamedTuple):
    """An agent's supervising process. `started` is in clock ticks since boot, `task` empty for a start task's agent."""

    pid: int
    started: int
    boot: str
    task: str
    version: str

    @property
    def age(self) -> tuple[int, int]:
        """The order of agents by the start of their processes, whenever they were registered; no two are equal."""
        return self.started, self.pid


class Registry:
    """Registers agents in `folder`, which only this user can write."""

    def __init__(self, folder: str, machine: Machine, clock: Clock) -> None:
        self._folder = f"{folder}/instances"
        self._machine = machine
        self._clock = clock
        namespace = re.sub(r"\D", "", machine.link(_NAMESPACE))
        self._suffix = f"-{namespace}.json" if namespace else ".json"

    def register(self, task: str, version: str, pid: int) -> Instance:
        """Registers a process as an agent, and removes files of ended ones.

        Returns its instance. Raises OSError, and ValueError if the process doesn't run.
        """
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        started = self._started(pid)
        if started is None:
            raise ValueError(f"The process {pid} doesn't run or can't be read.")
        one = Instance(pid, started, self._machine.optional_text(_BOOT), task, version)
        with self._lock():
            self._remove_stale()
            replace_file(self._path(pid), json.dumps(one._asdict()).encode())
        return one

    def renew(self, one: Instance) -> bool:
        """Marks an instance's file as one of an agent that runs; returns False if it is gone. Raises OSError."""
        try:
            os.utime(self._path(one.pid))
        except FileNotFoundError:
            return False
        return True

    def running(self) -> list[Instance]:
        """Returns the agents that run in this pid namespace, oldest first."""
        found = filter(None, map(self._read, self._own_names()))
        mine = [one for one, owner in found if self.is_running(one) and owner == self._owner(one.pid)]
        return sorted(mine, key=lambda one: one.age)

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

    def _own_names(self) -> list[str]:
        """Returns the names of files of this pid namespace."""
        own = re.compile(rf"\d+{re.escape(self._suffix)}")
        return [name for name in self._names() if own.fullmatch(name)][:MAX_INSTANCES]

    def _read(self, name: str) -> tuple[Instance, int] | None:
        """Returns the instance of a file and the number of the file's owner, None where it holds none."""
        try:
            content, owner = opened_file(f"{self._folder}/{name}", _MAX_SIZE)
            return _decoded(content), owner
        except (OSError, ValueError):
            return None

    def _remove_stale(self) -> None:
        """Removes the files of agents that ended, while the lock is held.

        Whether those of other namespaces run can't be seen from here, so that age decides; they register again.
        """
        own = {name: self._read(name) for name in self._own_names()}
        for name in self._names():
            found = own.get(name)
            is_stale = not self.is_running(found[0]) if found else self._is_old(name)
            if is_stale and name != _LOCK:
                with suppress(OSError):
                    os.unlink(f"{self._folder}/{name}")

    def _is_old(self, name: str) -> bool:
        try:
            renewed = os.lstat(f"{self._folder}/{name}").st_mtime
        except OSError:
            return False
        return self._clock.now() / 1e9 - renewed > MAX_AGE

    def _path(self, pid: int) -> str:
        return f"{self._folder}/{pid}{self._suffix}"

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
        lock = os.open(f"{self._folder}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
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
    numbers = (one.pid, one.started)
    texts = (one.boot, one.task, one.version)
    if not all(type(number) is int and number > 0 for number in numbers) or one.pid == 1:
        raise ValueError("no process")
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("no names")
    return one
