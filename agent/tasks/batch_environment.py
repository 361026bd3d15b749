"""The Batch task that a process's environment names.

Only the few variables of Batch that identify a task are kept. The others may hold secrets, as Batch's authentication
token does, and so may those of the task itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

MAX_ENVIRONMENT = 2 << 20
"""Bytes that are read of an environment: the kernel lets programs start with no more."""
START_TASK = "startup"
"""The start task's name, after its folder on the node; it has no id."""
TASK, PREPARATION, RELEASE, START = "task", "preparation", "release", "start"
_SPECIAL = {"jobpreparation": PREPARATION, "jobrelease": RELEASE}  # Batch's default ids, which are also folders
_JOB, _TASK, _FOLDER = "AZ_BATCH_JOB_ID", "AZ_BATCH_TASK_ID", "AZ_BATCH_TASK_DIR"
_PREPARATION_FOLDER, _START_FOLDER = "AZ_BATCH_JOB_PREP_DIR", "AZ_BATCH_NODE_STARTUP_DIR"
_KEPT = frozenset((_JOB, _TASK, _FOLDER, _PREPARATION_FOLDER, _START_FOLDER))
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_JOB_ID = re.compile(rf"{_ID.pattern}(?::job-[0-9]{{1,10}})?")  # jobs of a schedule are SCHEDULE:job-1 and so on


class BatchTask(NamedTuple):
    """A task of Batch. `kind` is one of TASK, PREPARATION, RELEASE and START; a start task has no job."""

    job: str
    task: str
    kind: str = TASK


def task_of_environment(environment: bytes) -> BatchTask | None:
    """Returns the task that an environment (NAME=value, separated by zero bytes) names, None where it names none."""
    found = _variables(environment)
    job, task = found.get(_JOB, ""), found.get(_TASK, "")
    if _JOB_ID.fullmatch(job) and _ID.fullmatch(task):
        return BatchTask(job, task, _kind(task, found))
    return BatchTask("", START_TASK, START) if not job and _is_start_task(found) else None


def _variables(environment: bytes) -> dict[str, str]:
    found = {}
    for entry in environment.split(b"\0"):
        if entry.startswith(b"AZ_BATCH_"):
            name, _, value = entry.decode("utf-8", "replace").partition("=")
            if name in _KEPT:
                found[name] = value
    return found


def _kind(task: str, found: Mapping[str, str]) -> str:
    """Returns the kind of a job's task; one with an id of the user's choice is known by its folder, if at all."""
    folder = found.get(_FOLDER, "").rstrip("/")
    return _SPECIAL.get(task.lower()) or _SPECIAL.get(folder.rpartition("/")[2]) or TASK


def _is_start_task(found: Mapping[str, str]) -> bool:
    folder = found.get(_FOLDER, "").rstrip("/")
    return bool(folder) and folder == found.get(_START_FOLDER, "").rstrip("/")
