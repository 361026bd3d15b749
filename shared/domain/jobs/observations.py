"""Observations of a job's tasks beside their counts: required slots, unlimited retries, the preparation task."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SlotRange:
    """The least and most slots that a waiting task requires, among the first `looked` of them."""

    looked: int
    least_slots: int
    most_slots: int


@dataclass(frozen=True, slots=True)
class RetriedTask:
    """A failed task that is retried without limit (maxTaskRetryCount -1), and its retries so far.

    `others` counts further unfinished tasks of the job with several retries, which may be limited.
    """

    id: str
    retries: int
    others: int = 0


@dataclass(frozen=True, slots=True)
class Preparation:
    """Results of a job's preparation task on the nodes where it began.

    `failed_nodes` are node keys. `failures` are sentences with their numbers, the most frequent first. `since` is the
    end of the first failure.
    """

    nodes: int
    succeeded: int
    failed_nodes: frozenset[str] = frozenset()
    failures: tuple[tuple[str, int], ...] = ()
    since: datetime | None = None
