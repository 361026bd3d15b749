"""Job schedules and storage in memory, polled by processes in virtual time, and a check of their claims.

The check: a stored schedule existed so at some instant between its `asOf` and now, and one marked as deleted was
missing at some instant since. A specification belongs to the modification that it names.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, override

from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.polling.schedule_rounds import schedule_verdict
from shared.domain.schedules.job_specifications import JobSpecification
from shared.domain.schedules.schedules import Recurrence, ScheduleFacts
from shared.errors import BatchError, BatchMissingError, BatchscopeError
from shared.services.round.resource_state import ResourceRoundResult, RoundRules
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.stores.batch.batch_lists import ResourceList
from shared.stores.batch.batch_schedule_rows import Specified
from shared.stores.batch.batch_schedules import BatchSchedules
from shared.stores.schedules import KnownSchedules, ScheduleStore
from tests.services.fakes.memory_tables import Connection, Fault, MemoryTables, ProcessDiedError, Storage
from tests.services.fakes.virtual_time import VirtualLoop
from tests.services.worlds.process import ACCOUNT, LoopClock

START = datetime(2026, 11, 21, 7, tzinfo=UTC)
IDLE, HORIZON = timedelta(minutes=15), timedelta(days=7)
RULES = RoundRules(timedelta(seconds=30), IDLE, HORIZON)
NONSENSE = "Its job specification makes no sense: ValidationError."
GARBLED = "Batch's data of it makes no sense."
type Truth = dict[str, ScheduleFacts]


@dataclass(slots=True)
class ScheduleService:
    """All schedules at every moment at which they changed; `refusals` maps requests to errors.

    `nonsense` are the keys of schedules with an invalid specification, `garbled` of those that lists return as invalid.
    """

    now: Callable[[], datetime]
    states: list[tuple[datetime, Truth]] = field(default_factory=lambda: [(START, {})])
    refusals: dict[str, BatchError] = field(default_factory=dict)
    nonsense: set[str] = field(default_factory=set)
    garbled: set[str] = field(default_factory=set)

    @property
    def there(self) -> Truth:
        return self.states[-1][1]

    def since(self, moment: datetime) -> list[Truth]:
        """Returns the truth at that moment, and after each change that followed."""
        before = [truth for time, truth in self.states if time <= moment]
        return [before[-1], *(truth for time, truth in self.states if time > moment)]


def specification_of(facts: ScheduleFacts) -> JobSpecification:
    """Returns a specification that names its modification."""
    return JobSpecification(display_name=f"{facts.id} as of {facts.last_modified}")


class FakeSchedules(BatchSchedules):
    """One process's view of the service."""

    def __init__(self, service: ScheduleService, connection: Connection) -> None:
        self.account = ACCOUNT
        self.calls = 0
        self.latency = 0.0
        self.requests: list[str] = []
        self._service = service
        self._connection = connection

    @override
    async def fetch_schedules(self) -> ResourceList[ScheduleFacts]:
        found, moment = await self._served("list")
        valid = tuple(facts for key, facts in found.items() if key not in self._service.garbled)
        garbled = {key: GARBLED for key in found if key in self._service.garbled}
        return ResourceList(valid, moment.replace(microsecond=0), garbled)

    @override
    async def fetch_schedule(self, schedule_id: str) -> ScheduleFacts:
        found, _ = await self._served(f"get {schedule_id}")
        if key_of(schedule_id) not in found:
            raise BatchMissingError(f"404: no job schedule {schedule_id}", code="JobScheduleNotFound")
        return found[key_of(schedule_id)]

    @override
    async def fetch_specifications(self, *, modified_since: datetime) -> Mapping[tuple[str, datetime], Specified]:
        found, _ = await self._served("specifications")
        modified = [facts for facts in found.values() if facts.last_modified >= modified_since]
        return {(facts.key, facts.last_modified): self._specified(facts) for facts in modified}

    def _specified(self, facts: ScheduleFacts) -> Specified:
        return NONSENSE if facts.key in self._service.nonsense else (specification_of(facts), ())

    async def _served(self, request: str) -> tuple[Truth, datetime]:
        self._connection.stop_if_dead()
        self.calls += 1
        self.requests.append(request)
        await asyncio.sleep(self.latency / 2)
        if request in self._service.refusals:
            raise self._service.refusals[request]
        answer = self._service.there, self._service.now()
        await asyncio.sleep(self.latency / 2)
        self._connection.stop_if_dead()
        return answer


class ScheduleProcess:
    """One running app with its own memory."""

    def __init__(
        self,
        service: ScheduleService,
        storage: Storage,
        *,
        clock: type[LoopClock] = LoopClock,
        ahead: timedelta = timedelta(),
    ) -> None:
        self.clock = clock(service.now, ahead)
        self.connection = Connection(storage, self.clock)
        self.store = ScheduleStore(MemoryTables(self.connection))
        self.batch = FakeSchedules(service, self.connection)
        self.rounds = ScheduleRounds(self.batch, self.store, self.clock, RULES)


@dataclass(slots=True)
class ScheduleWorld:
    """`heard` are the keys of schedules with jobs, `jobs` the creation times of further jobs by id."""

    storage: Storage = field(default_factory=Storage)
    loop: VirtualLoop = field(default_factory=VirtualLoop)
    service: ScheduleService = field(init=False)
    processes: list[ScheduleProcess] = field(init=False)
    heard: set[str] = field(default_factory=set)
    jobs: dict[str, datetime] = field(default_factory=dict)
    table_calls: int = 0
    _as_of: dict[tuple[str, datetime], datetime] = field(default_factory=dict)
    _besides: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.service = ScheduleService(self.now)
        self.storage.now = self.now
        self.processes = [self.started(), self.started()]

    def started(self) -> ScheduleProcess:
        return ScheduleProcess(self.service, self.storage)

    def now(self) -> datetime:
        return START + timedelta(seconds=self.loop.time())

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def wait(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    def close(self) -> None:
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.close()

    def create(self, name: str, state: str = "active") -> None:
        now = self.now()
        rules = Recurrence(interval="PT1M")
        due = now if state == "active" else None
        facts = ScheduleFacts(name, now, now, state, now, recurrence=rules, next_run_time=due)
        self._set({**self.service.there, facts.key: facts})

    def delete(self, name: str) -> None:
        self._set({key: facts for key, facts in self.service.there.items() if key != key_of(name)})

    def change(self, name: str, **changes: Any) -> None:
        facts = replace(self.service.there[key_of(name)], **changes)
        self._set({**self.service.there, facts.key: facts})

    def _set(self, truth: Truth) -> None:
        self.service.states.append((self.now(), truth))

    def later(self, seconds: float, change: Callable[[], None]) -> None:
        """Schedules a change during the next look."""
        self.loop.call_later(seconds, change)

    def level(self, key: str = "alpha") -> str:
        """Returns the level of the verdict on a schedule now."""
        known = self.known()
        return schedule_verdict(known.resources[key], known.last, now=self.now(), interval=timedelta(minutes=1)).level

    def look(self, *looks: tuple[int, float], fault: Fault | None = None, thorough: bool = False) -> list[str]:
        """Runs looks of processes concurrently, with given seconds per call; returns the first one's requests.

        The first process gets the `fault`.
        """
        looks = looks or ((0, 0.0),)
        first = self.processes[looks[0][0]]
        first.batch.requests.clear()
        first.connection.arm(fault)
        for who, takes in looks:
            self.processes[who].batch.latency = takes
        rounds = [self.processes[who].rounds.run(self.heard_of, lambda: True, thorough=thorough) for who, _ in looks]
        ends = self.run(_gathered(rounds))
        self.table_calls = first.connection.calls
        for (who, _), end in zip(looks, ends, strict=True):
            self.processes[who].connection.arm(None)
            if isinstance(end, ProcessDiedError):
                self.processes[who] = self.started()
            elif isinstance(end, BaseException) and not (fault and isinstance(end, BatchscopeError)):
                raise end
        self.check()
        return list(first.batch.requests)

    def look_beside(self, who: int) -> None:
        """Runs a look of a process while others look; this one takes no time."""

        async def look() -> None:
            await self.processes[who].rounds.run(self.heard_of, lambda: True)
            self._check_order(await self.started().store.load_all(ACCOUNT.key))

        self._besides.append(self.loop.create_task(look()))

    async def heard_of(self) -> Mapping[str, Job]:
        made = {f"{key}:job-1": START for key in self.heard} | self.jobs
        jobs = [Job(JobFacts(name, at, "active", at)) for name, at in made.items()]
        return {job.key: job for job in jobs}

    def run_of(self, who: int) -> ResourceRoundResult:
        """Runs a look of that process and returns its end."""
        return self.run(self.processes[who].rounds.run(self.heard_of, lambda: True))

    def known(self) -> KnownSchedules:
        """Returns the stored schedules, as loaded by a process with empty memory."""
        return self.run(self.started().store.load_all(ACCOUNT.key))

    def run_all(self, *work: Awaitable[Any]) -> None:
        """Runs all work concurrently. Raises the first error."""

        async def run() -> None:
            await asyncio.gather(*work)

        self.run(run())

    async def watch(self, seconds: int) -> None:
        """Checks at each second before which rows were written that `asOf`, a function of rows, doesn't go back."""
        store = self.started().store
        seen = -1
        for _ in range(seconds):
            if seen != (seen := len(self.storage.writes)):
                self._check_order(await store.load_all(ACCOUNT.key))
            await asyncio.sleep(1)

    def _check_order(self, known: KnownSchedules) -> None:
        """Checks that no schedule's `asOf` goes back."""
        for key, schedule in known.resources.items():
            as_of = known.last.as_of_schedule(schedule) if known.last else schedule.seen_at
            before = self._as_of.get((key, schedule.facts.creation_time), as_of)
            assert as_of >= before, f"{schedule.facts.id} is said to be as of {as_of}, and was as of {before} before"
            self._as_of[key, schedule.facts.creation_time] = as_of

    def check(self) -> None:
        """Raises AssertionError if a claim is false."""
        known = self.known()
        self._check_order(known)
        for key, schedule in known.resources.items():
            if schedule.deleted_at:
                truths = [facts.get(key) for facts in self.service.since(schedule.deleted_at)]
                assert any(facts is None or facts.creation_time != schedule.facts.creation_time for facts in truths)
                continue
            as_of = known.last.as_of_schedule(schedule) if known.last else schedule.seen_at
            created = schedule.facts.creation_time.replace(microsecond=0)
            assert as_of >= created, (
                f"{schedule.facts.id} of {created} is said to be as of {as_of}, before it was created"
            )
            truths = [facts.get(key) for facts in self.service.since(as_of)]
            if known.last and known.last.is_overtaken(schedule):
                continue  # of two overlapping looks, and it reports that
            assert schedule.facts in truths, f"{schedule.facts} is said to be as of {as_of}; was {truths}"
            if schedule.specification and not schedule.wants_specification:
                assert schedule.specification == specification_of(schedule.facts)


async def _gathered(work: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*work, return_exceptions=True))
