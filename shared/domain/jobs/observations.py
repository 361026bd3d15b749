"""What was seen of a job's tasks beside their counts: slots they require, retries without end, its preparation."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """Slots that waiting tasks require, of the first so many: `looked` of them, the least and the most."""

    looked: int
    least_slots: int
    most_slots: int


@dataclass(frozen=True, slots=True)
class Retried:
    """A task that failed and is run again without end (maxTaskRetryCount -1), and how often so far.

    `others` are more tasks of the job that were run again and go on; whether without end isn't known of them.
    """

    id: str
    retries: int
    others: int = 0


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a job's preparation went on the nodes where it was begun; the failures of nodes in the pool now, by word."""

    nodes: int
    succeeded: int
    failed_nodes: frozenset[str] = frozenset()
    failures: tuple[tuple[str, int], ...] = ()
    since: datetime | None = None
