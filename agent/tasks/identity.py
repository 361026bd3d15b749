"""Whose a measurement is: the Batch task that a process belongs to."""

from __future__ import annotations

from typing import NamedTuple


class TaskIdentity(NamedTuple):
    """A run of a task on this node. `attempt` is the run's start, in whole seconds since 1970, as text."""

    job: str
    task: str
    attempt: str = ""

    def tags(self) -> dict[str, str]:
        """Returns the tags by which the app assigns records to the task."""
        tags = {"job_id": self.job, "task_id": self.task, "task_attempt": self.attempt}
        return {name: value for name, value in tags.items() if value}
