"""What queries answer with: accounts and jobs together with what is to be said of them now."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.accounts import Account
from shared.domain.failures import Failures
from shared.domain.jobs import Job
from shared.domain.monitoring import Monitoring
from shared.domain.read_plans import Progress
from shared.domain.rounds import Round
from shared.domain.tasks import TaskCounts
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
