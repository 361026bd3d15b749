"""What is known of a job beside the use of its runs: its time limit, kills, start-ups, and the nodes that ran it.

Each is None where it isn't known; no rule concludes anything from that.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple


class TimeLimit(NamedTuple):
    """The limit of a completed job (maxWallClockTime), and the time from its creation to its end."""

    limit: timedelta
    took: timedelta


class TaskLimit(NamedTuple):
    """The limit (maxWallClockTime) of tasks, looked up for some of them, and that of their job; None without one.

    `reason` is a sentence why that of the tasks isn't known, None where it is.
    """

    tasks: tuple[str, ...]
    limit: timedelta | None = None
    job: timedelta | None = None
    reason: str | None = None


class BatchRuns(NamedTuple):
    """What Batch shows of the tasks of the job, measured or not: whether none is left to run, and the longest run.

    It is that of the latest runs of completed tasks, and lies between both ends of a bucket; None where it isn't known.
    """

    are_over: bool
    at_least: timedelta | None = None
    at_most: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Kills:
    """Tasks whose processes the kernel killed for lack of memory; `is_limit`: each reached its container's limit."""

    tasks: int
    is_limit: bool = False


class StartUpTime(NamedTuple):
    """Milliseconds of nodes: the job's share of those in which its pool's nodes started, and those its tasks held."""

    starting: int
    held: int


@dataclass(frozen=True, slots=True)
class NodeKindUse:
    """What the job's tasks held on dedicated, or on spot nodes: milliseconds of nodes, and those without a result.

    `cost` is the money for it, `otherwise` that for the same time on nodes of the other kind; None where some of it has
    no price.
    """

    held: int = 0
    interrupted: int = 0
    cost: Decimal | None = None
    otherwise: Decimal | None = None


@dataclass(frozen=True, slots=True)
class NodeFigures:
    """Means over the nodes of the job's pool while it ran, at most its last three hours.

    `stolen` is the share of CPU time that their hosts took, `throttled` that which containers waited for their limit of
    CPU, `network` bytes a second that a node received and sent, `memory` the bytes of a node's memory, `gpus` the used
    share of GPUs.
    """

    nodes: int
    stolen: float | None = None
    throttled: float | None = None
    network: float | None = None
    memory: float | None = None
    gpus: float | None = None


@dataclass(frozen=True, slots=True)
class JobContext:
    """Facts about a job that its runs don't show."""

    time_limit: TimeLimit | None = None
    task_limit: TaskLimit | None = None
    runs: BatchRuns | None = None
    kills: Kills | None = None
    start_ups: StartUpTime | None = None
    dedicated: NodeKindUse = field(default_factory=NodeKindUse)
    spot: NodeKindUse = field(default_factory=NodeKindUse)
    nodes: NodeFigures | None = None
