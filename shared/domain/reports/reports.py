"""Answers to queries: accounts, jobs and tasks, with derived statements about them as of now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from shared.domain.accounts.accounts import Account
from shared.domain.accounts.monitoring import Monitoring
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.jobs.forecasts import JobForecast, forecast_of
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.verdicts import Verdict
from shared.domain.jobs.waiting_causes import WaitingCause
from shared.domain.nodes.node_records import FLAPS
from shared.domain.nodes.nodes import Node
from shared.domain.polling.rounds import Round
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.pools.pool_totals import PoolTotals
from shared.domain.pools.pools import Pool
from shared.domain.pools.start_up_figures import FiguresByGroup
from shared.domain.reads.read_plans import Progress
from shared.domain.reports.pool_tasks import NO_TASKS, AccountTasks, PoolTasks
from shared.domain.retirements.announcements import Announcement
from shared.domain.retirements.retirements import concerns
from shared.domain.tasks.failures import Failures
from shared.domain.tasks.task_details import TaskDetails
from shared.domain.tasks.tasks import Task, TaskCounts
from shared.domain.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A stored row of a list that this version can't decode, and the reason as a sentence."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class ReportList[T]:
    """Entries of a list in key order, and rows that belong in it but can't be decoded."""

    reports: list[T]
    unreadable: tuple[UnreadableRow, ...] = ()


@dataclass(frozen=True)
class JobReport:
    """A job with the verdict on its counts, and the progress of a long first read.

    `tasks_ahead` is the number of waiting tasks of jobs that go first on its pool; None where they weren't counted.
    `waiting` is the cause for which its tasks wait, None where none waits.
    """

    account: Account
    job: Job
    verdict: Verdict
    progress: Progress | None = None
    tasks_ahead: int | None = None
    waiting: WaitingCause | None = None

    @cached_property
    def forecast(self) -> JobForecast | None:
        """The job's throughput and estimate, None where it has no statistics."""
        return forecast_of(self.job, self.verdict, tasks_ahead=self.tasks_ahead)


@dataclass(frozen=True, slots=True)
class FailuresReport:
    """A job's failed tasks by cause; all None before its first read.

    `failures` is also None where some of the job's leaves are of an older version, without causes.
    """

    as_of: datetime | None = None
    failed: int | None = None
    failures: Failures | None = None


@dataclass(frozen=True, slots=True)
class MonitoringReport:
    """An account's monitoring; `default` is the interval of accounts without a rate of their own."""

    monitoring: Monitoring
    default: timedelta

    @property
    def interval(self) -> timedelta:
        """Returns the account's effective time between polls."""
        return self.monitoring.interval(self.default)


@dataclass(frozen=True, slots=True)
class AccountReport:
    """An account's tile: its jobs by state, its tasks by state, its last round (None before the first).

    `pools` are the sums of its pools, `schedules` the last round over its job schedules, None before the first of each.
    `pools_problem` is a sentence about the failure of the last round over pools, if any. `unreadable_jobs` counts
    stored jobs that can't be decoded, which are in no other number. `tasks` are those of its jobs by pool.
    """

    account: Account
    jobs: Mapping[str, int]
    task_counts: TaskCounts
    last_round: Round | None
    watch: MonitoringReport
    pools: PoolTotals | None = None
    schedules: ScheduleRound | None = None
    pools_problem: str | None = None
    unreadable_jobs: int = 0
    tasks: AccountTasks = NO_TASKS


@dataclass(frozen=True, slots=True)
class LiveTask:
    """A task as Batch reports it now, the names of omitted properties, and the cached task behind the job's counts."""

    details: TaskDetails
    omitted: tuple[str, ...]
    cached: Task | None
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class TimelineReport:
    """A timeline, and as of when its tasks are known; None until a job's first read is finished."""

    as_of: datetime | None
    timeline: Timeline


@dataclass(frozen=True, slots=True)
class PoolReport:
    """A pool with the verdict on its numbers, as of `now`; `announced` are retirements that may concern it.

    `tasks` are those of its jobs, None where not asked for; `start_ups` are today's or yesterday's.
    """

    account: Account
    pool: Pool
    verdict: Verdict
    now: datetime
    tasks: PoolTasks | None = None
    announced: Sequence[Announcement] = ()
    start_ups: FiguresByGroup | None = None

    @property
    def retirements(self) -> list[Announcement]:
        """Returns the announcements that certainly concern it."""
        return [one for one in self.announced if concerns(one, self.pool)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPools(ReportList[PoolReport]):
    """The pools of an account; `verdict` is on the list's completeness: no pool missing, none too many."""

    verdict: Verdict


@dataclass(frozen=True, slots=True)
class NodeReport:
    """A node of a pool, as of `now`."""

    pool: PoolReport
    node: Node
    now: datetime

    @property
    def flaps(self) -> int:
        """Returns how often the node entered a bad state within the last hour."""
        return self.node.record.flaps(to_milliseconds(self.now))

    @property
    def is_flapping(self) -> bool:
        return self.flaps >= FLAPS

    @property
    def time_in_state(self) -> timedelta | None:
        """Returns how long the node has been in its state, or None; never negative, as nodes' clocks may run ahead."""
        if not self.node.transition:
            return None
        return max(self.now - from_milliseconds(self.node.transition), timedelta())
