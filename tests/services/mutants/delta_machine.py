"""Coarse rules for changes to an account and for the hosts that poll it, with a check after every poll."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import PREPARING, RUNNING, TrueJob
from tests.services.worlds.process import OVERLAP, Recipe
from tests.services.worlds.world import SECOND, World

SHORT = 3
NAMES = ("Render", "nightly:job-1")
pick = st.integers(0, 30)
seconds_between = st.sampled_from([0, 1, 7, 29, 30, 31, 61, 300])
seconds_a_call = st.sampled_from([0, 0, 2, 8, 40])
lags = st.sampled_from([0, 1, 10, 29, 30])
skews = st.sampled_from([0, 0, -20, -5, 1, 60])
goals = st.tuples(st.integers(0, 3), st.integers(0, 1))  # a state and, for completed tasks, an exit code
delays = st.sampled_from([0, 1, 5, 20])
faults = st.builds(Fault, call=st.integers(1, 9) | st.integers(10, 25), committed=st.booleans(), kills=st.booleans())


class DeltaMachine(RuleBasedStateMachine):
    """A state machine; `recipe` composes the polling processes: the real code, or a planted bug."""

    recipe = Recipe()
    level_at_rest = "exact"

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.recipe)
        self.added = 0
        self._known = (0, False)

    def teardown(self) -> None:
        self.world.close()

    @initialize(
        page_size=st.sampled_from([2, 5, 1000]),
        count_lag=st.sampled_from([0, 0, 20]),
        short_read=st.sampled_from([20_000, 20_000, SHORT]),
        job_page_size=st.sampled_from([1, 1000]),
        listed_late=lags,
        ahead=st.sampled_from([0, 0, 600, -600, 3600, -3600]),
    )
    def begin(
        self, *, page_size: int, count_lag: int, short_read: int, job_page_size: int, listed_late: int, ahead: int
    ) -> None:
        """Sets up the service; the second host's clock may be wrong."""
        self.world.service.job_page_size = job_page_size
        self.world.truth.listed_late = listed_late * SECOND
        self.prepare(page_size, count_lag, short_read, ahead)

    def prepare(self, page_size: int, count_lag: int, short_read: int, ahead: int = 0) -> None:
        self.world.service.page_size = page_size
        self.world.service.short_read = short_read
        self.world.set_clocks(timedelta(), ahead * SECOND)
        self.world.service.count_lag = count_lag * SECOND
        self._fill(self.world.create(NAMES[0]), 6)

    @rule(which=pick, number=st.integers(1, 6))
    def add_tasks(self, which: int, number: int) -> None:
        job = self._job(which)
        if job is None:
            self._fill(self.world.create(NAMES[which % 2]), number)
        elif job.completed is None:
            self._fill(job, number)

    @rule(which=pick, task=pick, to=goals, after=delays, lag=lags, skew=skews)
    def change(self, *, which: int, task: int, to: tuple[int, int], after: int, lag: int, skew: int) -> None:
        """Changes a task a little later; a stamp behind and a late report together stay within the overlap."""
        job = self._job(which)
        name = self._task(job, task)
        if job is None or name is None or job.completed:
            return
        shown = min(lag * SECOND, OVERLAP + min(skew, 0) * SECOND)
        at = self.world.now() + after * SECOND
        job.change(name, to[0], at=at, lag=shown, skew=skew * SECOND, code=to[1])

    @precondition(lambda self: not self.world.service.count_lag)
    @rule(which=pick, task=pick, to=goals, beyond=st.sampled_from([1, 31, 90]))
    def report_late(self, *, which: int, task: int, to: tuple[int, int], beyond: int) -> None:
        """Makes a change visible later than the overlap; nothing shows it in time while Get Task Counts lags."""
        job = self._job(which)
        name = self._task(job, task)
        if job is None or name is None or job.completed:
            return
        if to[0] == PREPARING and job.tasks[name].changes[-1].row.state == RUNNING:
            return  # only a task that was active in between prepares again, and the service itself reports that
        job.drifts = True
        lag = OVERLAP + beyond * SECOND
        job.change(name, to[0], at=self.world.now(), lag=lag, skew=timedelta(), code=to[1])

    @precondition(lambda self: not self.world.service.count_lag)
    @rule(which=pick, task=pick)
    def delete_task(self, which: int, task: int) -> None:
        job = self._job(which)
        name = self._task(job, task)
        if job and name:
            job.delete_task(name, self.world.now())

    @rule(which=pick, lag=lags)
    def complete(self, which: int, lag: int) -> None:
        job = self._job(which)
        if job and not job.completed and job.created < self.world.now():
            job.complete(self.world.now(), lag=lag * SECOND)

    @rule(which=pick, after=delays)
    def delete(self, which: int, after: int) -> None:
        job = self._job(which)
        if job and job.created < self.world.now():
            job.deleted = self.world.now() + after * SECOND

    @rule(which=pick, after=delays, number=st.integers(0, 6), same=st.booleans())
    def recreate(self, which: int, after: int, number: int, *, same: bool) -> None:
        """Deletes and immediately re-creates the job, with the same tasks or others."""
        job = self._job(which)
        if job is None or job.created >= self.world.now():
            return
        at = self.world.now() + after * SECOND
        job.deleted = at
        anew = self.world.truth.create(job.id, at)
        for name in list(job.tasks)[:number] if same else ():
            anew.add(name, at)
        if not same:
            self._fill(anew, number)

    @rule(who=st.integers(0, 1), after=seconds_between, takes=seconds_a_call, full=st.booleans())
    def poll(self, who: int, after: int, takes: int, *, full: bool) -> None:
        self.world.wait(after)
        self.world.poll(who, takes=takes, full=full)

    @rule(who=st.integers(0, 1), after=seconds_between, takes=seconds_a_call, fault=faults)
    def poll_that_fails(self, who: int, after: int, takes: int, fault: Fault) -> None:
        self.world.wait(after)
        self.world.poll(who, takes=takes, fault=fault)

    @rule(
        after=seconds_between,
        takes=st.tuples(seconds_a_call, seconds_a_call),
        delay=st.sampled_from([0, 1, 3, 10, 63]),
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
    @rule(
        who=st.integers(0, 1),
        budget=st.sampled_from([1, 5, 86_400]),
        takes=seconds_a_call,
        fault=st.none() | faults,
        keep=st.booleans(),
    )
    def deliver(self, *, who: int, budget: int, takes: int, fault: Fault | None, keep: bool) -> None:
        self.world.deliver(who, budget=budget, takes=takes, fault=fault, keep=keep)

    @precondition(lambda self: self.world.messages)
    @rule()
    def lose_a_message(self) -> None:
        self.world.messages.pop()

    @rule(who=st.integers(0, 1))
    def restart(self, who: int) -> None:
        self.world.processes[who] = self.world.started()

    @rule(who=st.integers(0, 1))
    def clean_up(self, who: int) -> None:
        """Runs housekeeping an hour later: it deletes retired rows, and changes no count."""
        self.world.wait(3600)
        before = {name: report.job.snapshot for name, report in self.world.reports().items()}
        self.world.run(self.world.processes[who].housekeeping.run())
        assert {name: report.job.snapshot for name, report in self.world.reports().items()} == before
        self.world.check(done=False, full=False, processes=[])

    @precondition(lambda self: self._knows_a_job())
    @rule()
    def come_to_rest(self) -> None:
        """Asserts that three rounds without changes make every count exact and finalize completed jobs.

        A lost message is sent again ten minutes later, and its work counts as a separate round.
        """
        self.world.wait(660)
        for number in range(3 if self.world.service.short_read > SHORT else 6):
            self.world.wait(61)
            self.world.poll(number % 2, full=number == 0)
            self.world.deliver_all()
        for name, report in self.world.reports().items():
            job = self.world.truth.at(name, self.world.now())
            if job is None:
                continue
            assert report.verdict.level == self.level_at_rest, report.verdict
            assert report.job.snapshot
            assert report.job.snapshot.counts == job.counts(self.world.now())
            assert report.job.finalized == (job.completed is not None)

    def _knows_a_job(self) -> bool:
        """Returns whether any job is reported on, which only a write changes; Hypothesis asks many times a step."""
        writes = len(self.world.storage.writes)
        if writes != self._known[0]:
            self._known = (writes, bool(self.world.reports()))
        return self._known[1]

    def _job(self, which: int) -> TrueJob | None:
        """Returns a job without a scheduled deletion."""
        jobs = self.world.truth.jobs.get(NAMES[which % len(NAMES)], [])
        return jobs[-1] if jobs and jobs[-1].deleted is None else None

    def _task(self, job: TrueJob | None, which: int) -> str | None:
        """Returns the id of a task that wasn't deleted."""
        names = sorted(name for name, task in job.tasks.items() if task.deleted is None) if job else []
        return names[which % len(names)] if names else None

    def _fill(self, job: TrueJob, number: int) -> None:
        """Adds tasks whose ids fall between existing ones."""
        for _ in range(number):
            self.added += 1
            job.add(f"Task-{self.added * 37 % 101:03}-{self.added}", max(job.created, self.world.now()))
