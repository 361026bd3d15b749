"""The results of a running poll of job schedules."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from shared.domain.jobs.jobs import Job
from shared.domain.schedules.schedules import Schedule, ScheduleFacts, first_seen
from shared.errors import BatchscopeError, BatchThrottledError
from shared.services.round.resource_state import ResourceRoundState
from shared.stores.schedules import KnownSchedules

type ScheduledJobs = Callable[[], Awaitable[Mapping[str, Job]]]


@dataclass(slots=True)
class SchedulesRoundState(ResourceRoundState):
    """The state of a running poll: known schedules by key.

    `shown` are the schedules that the list or a GET showed.
    """

    known: KnownSchedules
    has_time: Callable[[], bool]
    scheduled_jobs: ScheduledJobs
    schedules: dict[str, Schedule] = field(init=False)
    shown: set[str] = field(default_factory=set)
    date: datetime | None = None

    def __post_init__(self) -> None:
        self.schedules = dict(self.known.resources)

    def show(self, facts: ScheduleFacts, at: datetime) -> None:
        """Records a shown schedule; a new one over an unreadable row is written under that row's ETag."""
        old, row = self.schedules.get(facts.key), self.known.unreadable.get(facts.key)
        if old:
            self.schedules[facts.key] = old.seen(facts, at, self.before(old))
        else:
            self.schedules[facts.key] = replace(first_seen(facts, at), etag=row.etag if row else None)
        self.shown.add(facts.key)

    def before(self, schedule: Schedule) -> datetime:
        """Returns the last date as of which a schedule was known."""
        return self.known.last.as_of_schedule(schedule) if self.known.last else schedule.seen_at

    def as_of(self, schedule: Schedule) -> datetime:
        """Returns the date as of which a schedule is known after this poll."""
        if self.date and schedule.key in self.shown:
            return self.date
        return self.before(self.known.resources[schedule.key])

    def held(self, key: str) -> tuple[str, datetime]:
        """Returns the last confirmed version of a schedule that this poll can't confirm, and its date."""
        schedule, last = self.known.resources[key], self.known.last
        is_overtaken = last is not None and last.is_overtaken(schedule)
        return last.holding()[key] if last and is_overtaken else (schedule.version, self.before(schedule))

    def written(self, schedule: Schedule) -> Schedule:
        """Returns the schedule to write, with the date as of which it holds."""
        return replace(schedule, written_as_of=self.as_of(schedule))

    def changed(self) -> list[Schedule]:
        return [schedule for key, schedule in self.schedules.items() if schedule != self.known.resources.get(key)]

    def may_continue(self) -> bool:
        return self.throttled is None and self.has_time()

    def fail_each(self, keys: Iterable[str], error: BatchscopeError) -> None:
        """Records an error that concerns some schedules."""
        self.throttled = error if isinstance(error, BatchThrottledError) else self.throttled
        self.failures |= dict.fromkeys(keys, str(error))
