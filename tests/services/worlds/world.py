"""An account, storage and processes that poll it, in virtual time, and a check of their claims against the truth.

The check: a job's counts and tasks were visible so, task by task, at some instant between their `asOf` and now. If
nothing changed meanwhile, only one answer passes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from shared.domain.accounts.operations import JobMessage
from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job
from shared.domain.leaves.task_lists import TaskList
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.failures import Failures
from shared.domain.tasks.tasks import Task
from shared.errors import BatchscopeError
from shared.services.round.round_state import RoundState
from shared.stores.jobs.jobs import generation_partition
from tests.domain.support.summary_oracle import blamed, insight_of_rows
from tests.services.fakes.fake_batch import Service
from tests.services.fakes.memory_tables import Fault, ProcessDiedError, Storage
from tests.services.fakes.truth import TrueJob, Truth, counted, milliseconds
from tests.services.fakes.virtual_time import VirtualLoop
from tests.services.worlds.process import Process, Recipe

type StoredTasks = Callable[[str], dict[str, Task]]
"""The stored tasks of a job by id, for the job's name."""

START = datetime(2026, 11, 21, 7, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@dataclass(slots=True)
class World:
    recipe: Recipe = field(default_factory=Recipe)
    storage: Storage = field(default_factory=Storage)
    truth: Truth = field(default_factory=Truth)
    loop: VirtualLoop = field(default_factory=VirtualLoop)
    messages: list[JobMessage] = field(default_factory=list)
    _as_of: dict[tuple[str, datetime], datetime] = field(default_factory=dict)
    service: Service = field(init=False)
    processes: list[Process] = field(init=False)

    def __post_init__(self) -> None:
        self.service = Service(self.truth, self.now)
        self.storage.now = self.now
        self.processes = [self.started(), self.started()]

    def started(self, ahead: timedelta = timedelta()) -> Process:
        """Returns a process with empty memory, on a host whose clock is ahead by so much."""
        return Process(self.recipe, self.service, self.storage, ahead=ahead)

    def set_clocks(self, *ahead: timedelta) -> None:
        """Restarts the processes, on hosts whose clocks are ahead by so much."""
        self.processes = [self.started(one) for one in ahead]

    def now(self) -> datetime:
        return START + timedelta(seconds=self.loop.time())

    def run[T](self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    def wait(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    def close(self) -> None:
        self._bury()
        self.loop.close()

    def create(self, name: str, *tasks: str) -> TrueJob:
        """Creates a job with tasks, as of now."""
        job = self.truth.create(name, self.now())
        for task in tasks:
            job.add(task, self.now())
        return job

    def poll(
        self, who: int = 0, *, takes: float = 0, full: bool = False, fault: Fault | None = None, check: bool = True
    ) -> bool:
        """Polls with one process, whose calls to Batch take `takes` seconds. Returns True if the poll succeeded."""
        process = self.processes[who]
        process.batch.latency = takes
        process.connection.arm(fault)
        done = self._polled(who, process.poll(full=full), may_fail=fault is not None)
        process.connection.arm(None)
        self.messages += process.polling.take_messages()
        if check:
            self.check(done=done, full=full, processes=[process])
        return done

    def forget_claims(self, name: str) -> None:
        """Lets claims about a job begin anew, after its row was damaged."""
        self._as_of = {claim: as_of for claim, as_of in self._as_of.items() if claim[0] != name}

    def clean_up(self, who: int = 0, *, fault: Fault | None = None) -> None:
        """Runs housekeeping in one process."""
        self.processes[who].connection.arm(fault)
        process = self.processes[who]
        self._polled(who, process.housekeeping.run(), may_fail=fault is not None)
        process.connection.arm(None)

    def deliver(
        self, who: int = 0, *, budget: float = 86_400, takes: float = 0, fault: Fault | None = None, keep: bool = False
    ) -> bool:
        """Delivers the oldest message, if any, to one process, with a budget in seconds. Returns True on success.

        A message whose work fails is delivered again; with `keep` it always is, as the queue delivers at least once.
        """
        if not self.messages:
            return True
        message, process = self.messages.pop(0), self.processes[who]
        process.batch.latency = takes
        process.connection.arm(fault)
        assert message.job is not None, "the rounds of a world have time for all of its jobs"
        work = process.queued.run(message.job, message.until, budget=budget * SECOND)
        (end,) = self.run(_ends(work))
        process.connection.arm(None)
        self._take(who, None if isinstance(end, bool) else end, may_fail=fault is not None)
        if keep or end is not False:
            self.messages.append(message)
        self.check(done=False, full=False, processes=[])
        return isinstance(end, bool)

    def deliver_all(self) -> None:
        """Delivers messages until the queue is empty."""
        for _ in range(100):
            if not self.messages:
                return
            self.deliver()
        raise AssertionError(f"the queue never gets empty: {self.messages}")

    def poll_both(
        self,
        takes: tuple[float, float],
        *,
        delay: float,
        storage_takes: tuple[float, float] = (0, 0),
        fault: Fault | None = None,
    ) -> None:
        """Polls with both processes, the second `delay` seconds later; the first gets the fault."""
        for process, seconds, stores in zip(self.processes, takes, storage_takes, strict=True):
            process.batch.latency, process.connection.latency = seconds, stores
        self.processes[0].connection.arm(fault)
        ends = self.run(self._both(delay))
        for who, end in enumerate(ends):
            self._take(who, end, may_fail=fault is not None and who == 0)
        for process in self.processes:
            process.connection.latency = 0
            process.connection.arm(None)
        done = [process for process, end in zip(self.processes, ends, strict=True) if end is None]
        for process in self.processes:
            self.messages += process.polling.take_messages()
        self.check(done=len(done) == len(ends), full=False, processes=done)

    async def _both(self, delay: float) -> list[BaseException | None]:
        async def later() -> None:
            await asyncio.sleep(delay)
            await self.processes[1].poll()
            self._check_order(await self._reports())  # claims before the slower one ends

        return await _ends(self.processes[0].poll(), later())

    def _polled(self, who: int, work: Coroutine[Any, Any, None], *, may_fail: bool) -> bool:
        (end,) = self.run(_ends(work))
        self._take(who, end, may_fail=may_fail)
        return end is None

    def _take(self, who: int, end: BaseException | None, *, may_fail: bool) -> None:
        """Handles the end of a poll; only a fault may make it an error."""
        if isinstance(end, ProcessDiedError):
            self._bury()
            self.processes[who] = self.started(self.processes[who].clock.ahead)
        elif end is not None and not (may_fail and isinstance(end, BatchscopeError)):
            raise end

    def _bury(self) -> None:
        """Cancels the remaining tasks of a dead process."""
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.run(_ends(*left))

    def reports(self) -> dict[str, JobReport]:
        """Returns the current report on every job by id, from a process with empty memory."""
        return self.run(self._reports())

    async def _reports(self) -> dict[str, JobReport]:
        return {report.job.facts.id: report for report in await self.started().queries.jobs("demo")}

    async def watch(self, seconds: int) -> None:
        """Checks at each second before which rows were written that `asOf`, a function of rows, doesn't go back."""
        seen = -1
        for _ in range(seconds):
            if seen != (seen := len(self.storage.writes)):
                self._check_order(await self._reports())
            await asyncio.sleep(1)

    def report(self, name: str) -> JobReport:
        return self.reports()[name]

    def cached(self, name: str) -> dict[str, Task]:
        """Returns the stored tasks of a job by id."""
        return self.run(self._cached(name))

    async def _cached(self, name: str) -> dict[str, Task]:
        found = self.started().task_queries.tasks("demo", name, TaskList(limit=1_000_000))
        return {task.id: task async for batch in found for task in batch}

    def failures(self, name: str) -> Failures | None:
        """Returns the failures of a job from the head of its served generation."""
        return self._failures(self.report(name).job)

    def _failures(self, job: Job) -> Failures | None:
        assert job.snapshot
        partition = generation_partition("demo", job.key, job.snapshot.generation)
        head = self.run(self.started().cache.load_head(partition))
        return head.failures if head else None

    def check(self, *, done: bool, full: bool, processes: list[Process]) -> None:
        """Raises AssertionError if a claim is false; after a successful poll every claim must also be fresh.

        The stored tasks of a job are read once, as nothing changes meanwhile.
        """
        reports, tasks = self.reports(), cache(self.cached)
        self._check_order(reports)
        ends = [process.rounds.ended for process in processes]
        done = done and all(end is not None and not end.reason for end in ends)
        failed = {key for end in ends if end for key in (*end.failures, *end.overtaken, *self._elsewhere(end))}
        for name, report in reports.items():
            self._check_incarnation(name, report, tasks)
            if not report.job.deleted:
                self._check_claim(name, report, tasks, done=done and report.job.key not in failed)
            if done and not report.job.deleted and report.job.key not in failed:
                self._check_insight(name, report, tasks)
        if done:
            dates = [process.batch.list_date for process in processes if process.batch.list_date]
            for process in processes if dates else ():
                self._check_freshness(reports, process, full=full, first=min(dates))

    def _check_order(self, reports: dict[str, JobReport]) -> None:
        """Checks that no job's `asOf` goes back."""
        for name, report in reports.items():
            key, as_of = (name, report.job.facts.creation_time), report.verdict.as_of
            before = self._as_of.get(key)
            if before and not report.job.deleted:
                assert as_of is not None, f"{name} was said to be as of {before}, and now of no time"
                assert as_of >= before, f"{name} is said to be as of {as_of}, and was as of {before} before"
            if as_of:
                self._as_of[key] = as_of

    def _queued(self) -> set[str]:
        """Returns the jobs that were queued when the last round began."""
        last = self.run(self.started().round_store.load("demo"))
        return set(last.queued) if last else set()

    def _elsewhere(self, ended: RoundState) -> set[str]:
        """Returns the jobs that a round queued or found queued: a mark may expire during the round."""
        return self._queued() | set(ended.last.queued if ended.last else ())

    def _check_incarnation(self, name: str, report: JobReport, tasks: StoredTasks) -> None:
        """Checks that an exact claim covers one job alone: as of its creation or later, with only its own tasks."""
        snapshot = report.job.snapshot
        if snapshot is None or report.verdict.level != "exact":
            return
        created = report.job.facts.creation_time
        assert snapshot.as_of >= created, f"{name} is said to be as of {snapshot.as_of}, before it was created"
        (job,) = [job for job in self.truth.jobs[name] if job.created == created]
        own = {(task, milliseconds(true.changes[0].occurred)) for task, true in job.tasks.items()}
        strange = {(task.id, task.creation) for task in tasks(name).values()} - own
        assert not strange, f"{name} of {created} is said to have tasks of another job: {strange}"

    def _check_claim(self, name: str, report: JobReport, stored: StoredTasks, *, done: bool) -> None:
        snapshot, now = report.job.snapshot, self.now()
        if snapshot is None or self.truth.is_unsettled(name, snapshot.as_of, now):
            return
        job = self.truth.at(name, snapshot.as_of)
        if job is not None and job.drifts:
            self._check_exact(name, report, job)
            return
        assert job is not None, f"{name} is said to be there as of {snapshot.as_of}, when it was not"
        assert report.job.facts.creation_time == job.created, f"the tasks of {name} are those of a job deleted before"
        tasks = stored(name)
        since = now if report.job.finalized else snapshot.as_of  # a finalized job's counts hold for good
        for task in job.tasks.keys() | tasks.keys():
            possible = job.tasks[task].seen_between(since, now) if task in job.tasks else {None}
            assert tasks.get(task) in possible, (
                f"{task} of {name} is said to be {tasks.get(task)} as of {snapshot.as_of}, now {now}; was {possible}"
            )
        if done:
            assert snapshot.counts == counted(tasks.values()), f"the counts of {name} are not those of its tasks"

    def _check_insight(self, name: str, report: JobReport, tasks: StoredTasks) -> None:
        """Checks that the job statistics match its tasks, one by one."""
        rows, snapshot = list(tasks(name).values()), report.job.snapshot
        assert snapshot, f"{name} was polled, and there is no snapshot of it"
        assert snapshot.statistics, f"{name} was polled, and there are no statistics of it"
        assert snapshot.statistics.unpack() == insight_of_rows(rows), (
            f"the statistics of {name} are not those of its tasks"
        )
        assert self._failures(report.job) == blamed(rows), (
            f"failures of {name} are grouped as those of its tasks are not"
        )

    def _check_exact(self, name: str, report: JobReport, job: TrueJob) -> None:
        """Checks that `exact` counts are right if nothing moved since `asOf`, even for changes that deltas miss."""
        snapshot, now = report.job.snapshot, self.now()
        as_of = report.verdict.as_of
        if snapshot and as_of and report.verdict.level == "exact" and job.is_still(as_of, now):
            truth = job.counts(now)
            assert snapshot.counts == truth, (
                f"the counts of {name} are said to be exactly {snapshot.counts}, are {truth}"
            )

    def _check_freshness(self, reports: dict[str, JobReport], process: Process, *, full: bool, first: datetime) -> None:
        """Checks that every job is as of this process's T0, or of the `first` T0 if a new generation took over."""
        t0, now, ended = process.batch.list_date, self.now(), process.rounds.ended
        if t0 is None or ended is None or ended.reason:
            return
        elsewhere = self._elsewhere(ended)
        for name, jobs in self.truth.jobs.items():
            if (
                self.truth.is_unsettled(name, t0, now)
                or key_of(name) in ended.failures
                or key_of(name) in ended.overtaken
                or key_of(name) in elsewhere
            ):
                continue
            report = reports.get(name)
            if any(job.listed(t0) for job in jobs):
                assert report is not None, f"{name} is not known"
                assert not report.job.deleted, f"{name} is there and said to be deleted"
                snapshot = report.job.snapshot
                replaced = snapshot and (snapshot.source == "fullRead" or snapshot.moved_at >= first)
                since = first if replaced else t0  # the other poll's claim is then about the previous snapshot
                assert report.job.finalized or (snapshot and snapshot.looked_at >= since), (
                    f"{name} was polled and is not fresh"
                )
            elif full and report is not None and not any(job.is_there(t0) for job in jobs):
                assert report.job.deleted, f"{name} is gone and said to be there"


async def _ends(*work: Awaitable[Any]) -> list[Any]:
    return list(await asyncio.gather(*work, return_exceptions=True))
