"""The tasks of the proof, and the environment that Batch gives to them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

JOB = f"agent-figures-{os.getpid()}"
"""A job of this run alone: others may run on this machine."""
LONG = 64.0
"""Seconds of long tasks."""
SHORT = 22.0
"""Seconds of short tasks, longer than two intervals, as a busy machine may leave a sample out."""
TINY = 3.0
"""Seconds of tasks that live between two samples."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A task: its program, when it starts and for how long it runs (seconds), and which figures are judged.

    Each of `seconds` is an attempt. Memory of several processes at once has no peak that one of them could know.
    """

    name: str
    kind: str
    seconds: tuple[float, ...] = (LONG,)
    begin: float = 0.0
    has_peak: bool = False
    has_io: bool = False
    has_threads: bool = False
    is_elevated: bool = False
    has_orphans: bool = False
    """Whether processes that no sample shows end with init as their parent: nobody can know whose they were."""
    is_late: bool = False
    """Whether its memory or I/O grows until its end, which nobody can read without exit accounting."""


PLANS = (
    Plan("busy", "busy", has_threads=True),
    Plan("busy-then-idle", "busy-at-first"),
    Plan("sleeper", "sleeper", has_peak=True, has_threads=True),
    Plan("threads", "threads", has_threads=True),
    Plan("memory-ramps", "ramp", has_peak=True),
    Plan("memory-at-the-end", "late-ramp", (SHORT,), 30.0, has_peak=True, is_late=True),
    Plan("forks-waited-for", "forks"),
    Plan("forks-not-waited-for", "forks-unwaited"),
    Plan("orphans", "orphans", has_orphans=True),
    Plan("new-session", "new-session"),
    Plan("daemon", "daemon"),
    Plan("writer", "writer", has_io=True),
    Plan("writer-to-the-end", "writer-to-the-end", has_io=True, is_late=True),
    Plan("writing-children", "writing-children", has_io=True),
    Plan("read-burst", "read-burst", (30.0,), 10.0, has_io=True),
    Plan("short", "busy", (SHORT,), 20.0),
    Plan("two-attempts", "busy", (SHORT, SHORT + 3), 10.0),
    Plan("administrator", "busy", (30.0,), 20.0, is_elevated=True),
)
TINY_PLANS = tuple(Plan(f"tiny-{number}", "busy", (TINY,), 15.0 + 7 * number) for number in range(4))
"""Tasks that samples can miss: whether they are seen is shown, not judged."""


def batch_variables(plan: Plan, folder: str) -> Mapping[str, str]:
    """Returns the environment of a task on a node, as Batch sets it; the secret is none."""
    root = "/mnt/batch/tasks"
    task = f"{root}/workitems/{JOB}/job-1/{plan.name}"
    user = "PoolAdmin" if plan.is_elevated else "PoolNonAdmin"
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "AZ_BATCH_ACCOUNT_NAME": "account",
        "AZ_BATCH_ACCOUNT_URL": "https://account.westeurope.batch.azure.com/",
        "AZ_BATCH_AUTHENTICATION_TOKEN": '{"token":"none"}',
        "AZ_BATCH_CERTIFICATES_DIR": f"{task}/certs",
        "AZ_BATCH_JOB_ID": JOB,
        "AZ_BATCH_JOB_PREP_DIR": f"{root}/workitems/{JOB}/job-1/jobpreparation",
        "AZ_BATCH_JOB_PREP_WORKING_DIR": f"{root}/workitems/{JOB}/job-1/jobpreparation/wd",
        "AZ_BATCH_NODE_ID": "tvmps_1",
        "AZ_BATCH_NODE_IS_DEDICATED": "true",
        "AZ_BATCH_NODE_ROOT_DIR": root,
        "AZ_BATCH_NODE_SHARED_DIR": f"{root}/shared",
        "AZ_BATCH_NODE_STARTUP_DIR": f"{root}/startup",
        "AZ_BATCH_POOL_ID": "pool",
        "AZ_BATCH_TASK_DIR": task,
        "AZ_BATCH_TASK_ID": plan.name,
        "AZ_BATCH_TASK_USER": user,
        "AZ_BATCH_TASK_USER_IDENTITY": user,
        "AZ_BATCH_TASK_WORKING_DIR": f"{task}/wd",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": folder,
    }
