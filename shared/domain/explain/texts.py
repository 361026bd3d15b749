"""Sentences, and parts of them, that several rules share."""

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import Evidence
from shared.domain.pools.pool_settings import Problem
from shared.domain.pools.resize_errors import ResizeError

OWN_POOL_LOST = "Batch made this pool for the job and makes no other: submit the tasks that are left to a new job."
"""Advice where Batch made the pool for the job: such a job can't get another one."""


def wait(tasks: int) -> str:
    return "waits" if tasks == 1 else "wait"


def left(e: Evidence) -> str:
    """Returns a sentence on the waiting tasks of a job that starts no more; empty without any."""
    tasks = e.waiting_tasks
    if not tasks:
        return ""
    return f" {amount(tasks, 'waiting task')} {'stays as it is' if tasks == 1 else 'stay as they are'}."


def with_error(error: ResizeError | Problem) -> str:
    """Returns the code and message of an error, as far as the service reported them."""
    reported = ": ".join(part for part in (error.code, error.message.rstrip(".")) if part)
    return f" with {'' if error.code or not reported else 'an error: '}{reported or 'an error that has no name'}"
