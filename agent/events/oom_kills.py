"""OOM kills in the kernel's log: which process died for lack of memory, and whose task it was."""

from __future__ import annotations

import re
from typing import Callable, Optional

from agent.events.event import event
from agent.events.kernel_log import KernelRecord
from agent.records.record import Record, Value
from agent.tasks.identity import TaskIdentity

KIND = "oom_kill"
TaskOf = Callable[[int], Optional[TaskIdentity]]
"""Returns the task that a process belongs or belonged to; it may have ended some seconds ago."""
_KILLED = re.compile(
    r"(?P<scope>Memory cgroup out of memory|Out of memory)[^:]*: "
    r"Killed process (?P<pid>\d{1,10}) \((?P<name>.{1,64}?)\)(?= total-vm:|,|$)"
)
_KILLED_SHORT = re.compile(r"^Killed process (?P<pid>\d{1,10}) \((?P<name>.{1,64}?)\)(?= total-vm:|,|$)")
_CHOSEN = re.compile(r"^(?P<scope>Memory cgroup out of memory|Out of memory)[^:]*: Kill process \d")
_RESIDENT = re.compile(r"\b(?:anon|file|shmem)-rss:(\d{1,15})kB")
_VIRTUAL = re.compile(r"\btotal-vm:(\d{1,15})kB")


def is_cgroup_limit(record: KernelRecord) -> bool | None:
    """Returns the reason of the next kill as kernels before 5.0 report it, in a record of its own; else None."""
    found = _CHOSEN.match(record.text)
    return None if found is None else found["scope"].startswith("Memory cgroup")


def oom_kill(record: KernelRecord, task_of: TaskOf, time: int, *, is_limit: bool = False) -> Record | None:
    """Returns the event of a record that reports an OOM kill; `time` is its own, in nanoseconds since 1970.

    `is_limit` is the reason where the record itself doesn't name it.

    Fields: `pid`, `process` (its short name), `memory_bytes` (resident), `virtual_bytes`, `is_cgroup_limit`.
    """
    found = _KILLED.search(record.text) or _KILLED_SHORT.match(record.text)
    if found is None:
        return None
    pid, name = int(found["pid"]), found["name"]
    is_limit = found.groupdict()["scope"].startswith("Memory cgroup") if "scope" in found.groupdict() else is_limit
    fields = {"pid": pid, "process": name, "is_cgroup_limit": is_limit, **_sizes(record.text)}
    task = task_of(pid)
    return event(KIND, _message(name, pid, task, is_limit=is_limit), fields, task=task, time=time)


def _sizes(text: str) -> dict[str, Value]:
    """Returns the process's sizes in bytes; the kernel writes KiB."""
    sizes: dict[str, Value] = {}
    resident, virtual = _RESIDENT.findall(text), _VIRTUAL.search(text)
    if resident:
        sizes["memory_bytes"] = 1024 * sum(map(int, resident))
    if virtual:
        sizes["virtual_bytes"] = 1024 * int(virtual[1])
    return sizes


def _message(name: str, pid: int, task: TaskIdentity | None, *, is_limit: bool) -> str:
    owner = f" of task {task.task}" if task else ""
    reason = "its memory limit was reached" if is_limit else "the node ran out of memory"
    return f"The kernel killed process {pid} ({name}){owner}, because {reason}."
