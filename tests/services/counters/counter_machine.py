"""Rules that move tasks as the service does, for hosts that poll them, with the counters that a witness would have.

The witness counts when a rule changes a task, and sees no polls. Changes that leave no trace for a later poll
(a deletion, a reactivation, the end of a task that doesn't run any more) come after a rest, in which polls saw all.
"""

from datetime import datetime, timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from shared.domain.core.keys import key_of
from shared.domain.tasks.task_counters import COUNTER_FIELDS, TaskCounters
from shared.domain.tasks.tasks import Task
from tests.services.counters.pool_rows import delete_pool, is_listed, list_pool
from tests.services.counters.witness import Witness, after_step, last
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import ACTIVE, COMPLETED, RUNNING, Change, TrueJob, milliseconds
from tests.services.worlds.process import Recipe
from tests.services.worlds.spoiling import spoil
from tests.services.worlds.world import SECOND, World

SHORT = 3
RETENTION = 31 * 86_400  # seconds: longer than rows of deleted jobs are kept
NAMES, POOLS = ("Render", "nightly:job-1"), ("Blue", "green")
pick = st.integers(0, 30)
seconds_between = st.sampled_from([0, 1, 29, 30, 31, 61, 300])
seconds_a_call = st.sampled_from([0, 0, 2, 40])
lags = st.sampled_from([0, 0, 10, 30, 90])
faults = st.builds(Fault, call=st.integers(1, 9) | st.integers(10, 25), committed=st.booleans(), kills=st.booleans())
steps = st.sampled_from(["start", "succeed", "fail", "retry", "preempt", "requeue"])


class CounterMachine(RuleBasedStateMachine):
    """A state machine; `recipe` composes the polling processes: the real code, or a planted bug."""

    recipe = Recipe()

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.recipe)
        self.witness = Witness()
        self.added = 0
        self._seen: dict[str, TaskCounters] = {}
        self._writes = -1

    def teardown(self) -> None:
        self.world.close()

    @initialize(page_size=st.sampled_from([2, 1000]), short_read=st.sampled_from([20_000, 20_000, SHORT]))
    def begin(self, *, page_size: int, short_read: int) -> None:
        self.world.service.page_size = page_size
        self.world.service.short_read = short_read
        self.world.set_clocks(timedelta(), timedelta())
        self._fill(self._created(NAMES[0]), 6)

    @rule(which=pick, number=st.integers(1, 6))
    def add_tasks(self, which: int, number: int) -> None:
        job = self._job(which) or self._created(NAMES[which % 2])
        self._fill(job, number)

    @rule(which=pick, task=pick, step=steps, lag=lags)
    def move(self, *, which: int, task: int, step: str, lag: int) -> None:
        """Starts a waiting task, or ends a run, each in a way of the service's; some are reported too late."""
        job = self._job(which)
        name = self._task(job, task, ACTIVE if step == "start" else RUNNING)
        if job is None or name is None or (step in ("preempt", "requeue") and not self._start_was_seen(job, name)):
            return
        at = max(self.world.now(), job.tasks[name].changes[-1].occurred + SECOND)
        row = last(job, name)
        job.drifts = job.drifts or lag > 30
        self._change(job, name, at, lag, after_step(row, step, milliseconds(at)))
        if step == "start":
            self.witness.note_start(job, name)
        if step in ("succeed", "fail"):
            self.witness.note(job, completed=1, failed=int(step == "fail"))
        if step == "retry":
            self.witness.note(job, retried=1)

    @precondition(lambda self: self._knows_a_job())
    @rule(which=pick, task=pick)
    def terminate_a_waiting_task(self, which: int, task: int) -> None:
        self.come_to_rest()
        job = self._job(which)
        name = self._task(job, task, ACTIVE)
        if job and name and self._start_was_seen(job, name):
            row = last(job, name)
            now = self.world.now()
            ended = row._replace(
                state=COMPLETED, result=2, transition=milliseconds(now), end=milliseconds(now),
                failure=("UserError", "TaskEnded"),
            )  # fmt: skip
            self._change(job, name, now, 0, ended)
            self.witness.note(job, completed=1, failed=1)

    @precondition(lambda self: self._knows_a_job())
    @rule(which=pick, task=pick)
    def preempt_and_terminate(self, which: int, task: int) -> None:
        """Ends a task that waits after its node went; only polls before know that it ran."""
        self.come_to_rest()
        job = self._job(which)
        name = self._task(job, task, RUNNING)
        if job and name:
            now = self.world.now()
            self._change(job, name, now, 0, after_step(last(job, name), "preempt", milliseconds(now)))
            self.terminate_a_waiting_task(which, task)

    @precondition(lambda self: self._knows_a_job())
    @rule(which=pick, task=pick)
    def reactivate(self, which: int, task: int) -> None:
        self.come_to_rest()
        job = self._job(which)
        name = self._task(job, task, COMPLETED)
        if job and name:
            now = self.world.now()
            row = Task(name, ACTIVE, transition=milliseconds(now), creation=last(job, name).creation)
            self._change(job, name, now, 0, row)
            self.witness.end_life(job, name)

    @precondition(lambda self: self._knows_a_job())
    @rule(which=pick, tasks=st.lists(pick, min_size=1, max_size=3), anew=st.booleans())
    def delete_tasks(self, which: int, tasks: list[int], *, anew: bool) -> None:
        """Deletes tasks, of which some begin anew under their ids; a new generation shows it."""
        self.come_to_rest()
        job = self._job(which)
        for task in tasks:
            name = self._task(job, task, None)
            if job and name:
                job.delete_task(name, self.world.now())
                self.witness.end_life(job, name)
        if anew and job:
            self._fill(job, 1)

    @precondition(lambda self: self._knows_a_job())
    @rule(which=pick, number=st.integers(0, 6), pool=st.booleans())
    def delete_job(self, which: int, number: int, *, pool: bool) -> None:
        """Deletes a job, and creates another under its id, perhaps on another pool."""
        self.come_to_rest()
        job = self._job(which)
        if job and job.created < self.world.now():
            job.deleted = self.world.now()
            if number:
                anew = self._created(job.id, POOLS[pool])
                self._fill(anew, number)

    @rule(who=st.integers(0, 1), after=seconds_between, takes=seconds_a_call, full=st.booleans())
    def poll(self, who: int, after: int, takes: int, *, full: bool) -> None:
        self.world.wait(after)
        self.world.poll(who, takes=takes, full=full, check=False)

    @rule(who=st.integers(0, 1), after=seconds_between, takes=seconds_a_call, fault=faults)
    def poll_that_fails(self, who: int, after: int, takes: int, fault: Fault) -> None:
        self.world.wait(after)
        self.world.poll(who, takes=takes, fault=fault, check=False)

    @rule(
        after=seconds_between,
        takes=st.tuples(seconds_a_call, seconds_a_call),
        delay=st.sampled_from([0, 1, 3, 63]),
        storage_takes=st.sampled_from([(0, 0), (0.5, 0.5), (5, 0)]),
        fault=st.none() | faults,
    )
    def two_polls(
        self,
        *,
        after: int,
        takes: tuple[int, int],
        delay: int,
        storage_takes: tuple[float, float],
        fault: Fault | None,
    ) -> None:
        self.world.wait(after)
        self.world.poll_both(takes, delay=delay, storage_takes=storage_takes, fault=fault)

    @precondition(lambda self: self.world.messages)
    @rule(who=st.integers(0, 1), budget=st.sampled_from([1, 86_400]), fault=st.none() | faults, keep=st.booleans())
    def deliver(self, *, who: int, budget: int, fault: Fault | None, keep: bool) -> None:
        self.world.deliver(who, budget=budget, fault=fault, keep=keep)

    @rule(which=st.sampled_from(POOLS))
    def delete_or_create_pool(self, which: str) -> None:
        """Deletes a pool, or creates it again; its counters go on."""
        (delete_pool if is_listed(self.world, which) else list_pool)(self.world, which)

    @precondition(lambda self: self._knows_a_job())
    @rule(which=pick)
    def forget_job_and_pool(self, which: int) -> None:
        """Deletes a job whose task ran, its row after a month, and then its pool."""
        self.move(which=which, task=0, step="start", lag=0)
        self.come_to_rest()
        job = self._job(which)
        if job and job.created < self.world.now():
            job.deleted = self.world.now()
            self.world.poll(full=True, check=False)
            self.clean_up(0, RETENTION, None)
            if job.pool_id and is_listed(self.world, job.pool_id):
                delete_pool(self.world, job.pool_id)
            self.clean_up(1, 3600, None)

    @rule(which=pick, columns=st.sampled_from([{"source": "unheard-of"}, {"schema": 99}]))
    def damage_row(self, which: int, columns: dict[str, object]) -> None:
        """Makes a job's row unreadable, until a poll replaces it or housekeeping deletes it."""
        self.move(which=which, task=0, step="start", lag=0)
        self.world.poll(check=False)
        self.never_decreases()
        name = NAMES[which % 2]
        if ("demo", key_of(name)) in self.world.storage.rows["jobs"]:
            spoil(self.world, "jobs", "demo", key_of(name), **columns)
            self.world.forget_claims(name)
            self._writes = -1

    @rule(who=st.integers(0, 1), waits=st.sampled_from([3600, RETENTION]), fault=st.none() | faults)
    def clean_up(self, who: int, waits: int, fault: Fault | None) -> None:
        """Runs housekeeping, which deletes rows of jobs that were deleted a month ago, on two hosts or with a crash."""
        self.world.wait(waits)
        self.world.clean_up(who, fault=fault)
        self.never_decreases()
        self.world.clean_up(1 - who)

    @precondition(lambda self: self._knows_a_job())
    @rule()
    def come_to_rest(self) -> None:
        """Asserts that rounds without changes bring the counters to the witness's."""
        self.world.wait(660)
        for number in range(3 if self.world.service.short_read > SHORT else 6):
            self.world.wait(61)
            self.world.poll(number % 2, full=number == 0, check=False)
            self.world.deliver_all()
        for job in filter(None, map(self._job, range(len(NAMES)))):
            self.witness.note_rest(job)
        expected = {pool: TaskCounters(*(counted[name] for name in COUNTER_FIELDS)) for pool, counted
                    in self.witness.counted.items() if any(counted.values())}  # fmt: skip
        assert {pool: one for pool, one in self._counters().items() if one != TaskCounters()} == expected

    @invariant()
    def never_decreases(self) -> None:
        """Asserts after each rule that wrote anything that no counter of any pool is less than before."""
        if self._writes == (writes := len(self.world.storage.writes)):
            return
        self._writes = writes
        counters = self._counters()
        for pool, before in self._seen.items():
            after = counters.get(pool, TaskCounters())
            assert after.at_least(before) == after, f"{pool} had {before}, and has {after}"
        self._seen = counters

    def _counters(self) -> dict[str, TaskCounters]:
        report = self.world.run(self.world.started().queries.account("demo"))
        return {pool: one.counters for pool, one in report.tasks.pools.items()}

    def _knows_a_job(self) -> bool:
        return any(jobs[-1].deleted is None for jobs in self.world.truth.jobs.values())

    def _created(self, name: str, pool: str | None = None) -> TrueJob:
        job = self.world.truth.create(name, self.world.now())
        job.pool_id = pool or POOLS[name == NAMES[0]]
        return job

    def _job(self, which: int) -> TrueJob | None:
        jobs = self.world.truth.jobs.get(NAMES[which % len(NAMES)], [])
        return jobs[-1] if jobs and jobs[-1].deleted is None else None

    def _task(self, job: TrueJob | None, which: int, state: int | None) -> str | None:
        """Returns the id of a task in a state, or in any, that wasn't deleted."""
        names = sorted(
            name
            for name, task in (job.tasks.items() if job else ())
            if task.deleted is None and state in (None, task.changes[-1].row.state)
        )
        return names[which % len(names)] if names else None

    def _start_was_seen(self, job: TrueJob, name: str) -> bool:
        """Returns whether a poll at rest saw the task run in its present life, or it never did, or shows it."""
        life = id(job), name
        return life not in self.witness.started or life in self.witness.seen or last(job, name).retries > 0

    def _change(self, job: TrueJob, name: str, at: datetime, lag: int, row: Task) -> None:
        job.tasks[name].changes.append(Change(at, at, at + lag * SECOND, row))

    def _fill(self, job: TrueJob, number: int) -> None:
        """Adds tasks whose ids fall between existing ones."""
        for _ in range(number):
            self.added += 1
            job.add(f"Task-{self.added * 37 % 101:03}-{self.added}", max(job.created, self.world.now()))
