"""What queries answer with: accounts, jobs and tasks together with what is to be said of them now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.accounts import Account
from shared.domain.failures import Failures
from shared.domain.jobs import Job
from shared.domain.monitoring import Monitoring
from shared.domain.nodes import Node
from shared.domain.pools import Pool
from shared.domain.read_plans import Progress
from shared.domain.rounds import Round
from shared.domain.stamps import from_milliseconds
from shared.domain.task_details import TaskDetails
from shared.domain.tasks import Task, TaskCounts
from shared.domain.timeline import Timeline
from shared.domain.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job with the verdict on its counts, and the progress of a first read that takes long."""

    account: Account
    job: Job
    verdict: Verdict
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class FailuresReport:
    """A job's failed tasks by cause; all None before its first read.

    `failures` is None, too, where leaves of a version before it are among the job's: their causes aren't known.
    """

    as_of: datetime | None = None
    failed: int | None = None
    failures: Failures | None = None


@dataclass(frozen=True, slots=True)
class MonitoringReport:
    """An account's monitoring; `default` is the interval of accounts that have no rate of their own."""

    monitoring: Monitoring
    default: timedelta

    @property
    def interval(self) -> timedelta:
        """The time between two polls that counts for the account."""
        return self.monitoring.interval(self.default)


@dataclass(frozen=True, slots=True)
class AccountReport:
    """An account's tile: its jobs by state, its tasks by state, its last round (None before the first)."""

    account: Account
    jobs: Mapping[str, int]
    task_counts: TaskCounts
    last_round: Round | None
    watch: MonitoringReport


@dataclass(frozen=True, slots=True)
class LiveTask:
    """A task as Batch tells it now, the names of what isn't shown, and what the job's counts `as_of` are based on."""

    details: TaskDetails
    omitted: tuple[str, ...]
    cached: Task | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class TimelineReport:
    """A timeline, and as of when its tasks are known; None before a job's first read is over."""

    as_of: datetime | None
    timeline: Timeline


@dataclass(frozen=True, slots=True)
class PoolReport:
    """A pool with the verdict on its numbers."""

    account: Account
    pool: Pool
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node of a pool, as it is to be told of `now`."""

    pool: PoolReport
    node: Node
    now: datetime

    @property
    def time_in_state(self) -> timedelta | None:
        """How long it has been in its state by now, None where the service doesn't say. Nodes' clocks may run ahead."""
        if not self.node.transition:
            return None
        return max(self.now - from_milliseconds(self.node.transition), timedelta())
