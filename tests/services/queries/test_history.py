"""A job's history is true at every poll, for any sequence of changes to jobs, polls and processes."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS
from shared.domain.history.points import Point
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import BatchMissingError, HistoryRangeError, NotFoundError
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import COMPLETED, RUNNING, TrueJob
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import START, World

DAY = 86_400  # seconds
type Both = tuple[
    tuple[float, float], float, tuple[float, float]
]  # seconds a call of each process, of delay, and a call to storage
GAP = (None, None, None)


def history(world: World, *, since: datetime = START, minutes: int | None = 1) -> list[Point[TaskCounts]]:
    """Returns the history from a process with empty memory."""
    step = timedelta(minutes=minutes) if minutes else None
    found = world.run(world.started().histories.read("demo", "Render", since=since, step=step))
    return list(found.points)


def moved(world: World, job: TrueJob, task: str, state: int = RUNNING) -> None:
    job.change(task, state, at=world.now(), lag=timedelta(), skew=timedelta())


class Diary:
    """Records the truth at successful polls, which the history must match: jobs change only between polls."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.polled: list[datetime] = []
        self.ended: dict[datetime, datetime] = {}
        world.create("Render", "a", "b", "c")

    def job(self) -> TrueJob | None:
        return self.world.truth.at("Render", self.world.now())

    def poll(self, who: int = 0, *, fault: Fault | None = None, both: Both | None = None, full: bool = False) -> None:
        """Polls a minute after the last poll, with one process or both concurrently; the first gets the fault."""
        self.world.wait(41)
        at = self.world.now().replace(microsecond=0)  # dates are whole seconds
        known = self.world.reports().get("Render")
        if both:
            takes, delay, storage_takes = both
            self.world.poll_both(takes, delay=delay, storage_takes=storage_takes, fault=fault)
        else:
            self.world.poll(who, fault=fault, full=full)
        while self.world.messages:
            self.world.deliver(who)
        report = self.world.reports().get("Render")
        left = report is not None and report.job.snapshot is None  # a poll on demand leaves long reads to ticks
        if fault is None and not left and not (known and known.job.finalized):
            self.polled.append(at)
            self.ended[at] = self.world.now()
        self.world.wait(20)

    def check(self) -> None:
        points = history(self.world)
        for point in points:
            self._check_claim(point)
        for before, last, at in zip([START, START, *self.polled], [START, *self.polled], self.polled, strict=False):
            job, former = (self.world.truth.at("Render", moment) for moment in (at, last))
            shown = next((point for point in points if point.time >= self.ended[at]), None)
            if job is None or shown is None:
                continue
            is_news = former is not job or job.counts(at) != job.counts(last)
            assert shown.as_of, f"nothing is told of {at}, when a poll ended well"
            assert job.drifts or shown.as_of >= (at if is_news else before), f"too old a word on {at}"

    def _check_claim(self, point: Point[TaskCounts]) -> None:
        if point.as_of is None:
            assert (point.as_of, point.exact, point.numbers) == GAP
            return
        assert point.time - timedelta(minutes=3) <= point.as_of <= point.time
        job = self.world.truth.at("Render", point.as_of)
        assert job, f"there was no job as of {point.as_of}"
        later = [end for at, end in self.ended.items() if at > point.as_of][:2]
        if not job.drifts or (point.exact and job.is_still(point.as_of, max(later, default=self.world.now()))):
            assert point.numbers == job.counts(point.as_of), f"as of {point.as_of}"


def change_first(diary: Diary) -> None:
    job = diary.job()
    for name, task in job.tasks.items() if job and not job.completed else ():
        if task.deleted is None and task.changes[-1].row.state != COMPLETED:
            moved(diary.world, job or TrueJob("", START), name, task.changes[-1].row.state + 1)
            return


def add(diary: Diary) -> None:
    job = diary.job()
    if job and not job.completed:
        job.add(f"t{len(job.tasks)}", diary.world.now())


def delete_task(diary: Diary) -> None:
    job = diary.job()
    for name, task in job.tasks.items() if job else ():
        if job and task.deleted is None:
            job.delete_task(name, diary.world.now())
            return


def complete(diary: Diary) -> None:
    job = diary.job()
    if job and not job.completed:
        job.complete(diary.world.now(), lag=timedelta())


def delete(diary: Diary) -> None:
    if job := diary.job():
        job.deleted = diary.world.now()


def create(diary: Diary) -> None:
    if diary.job() is None:
        job = diary.world.truth.create("Render", diary.world.now())
        for number in range(len(diary.polled) % 5):
            job.add(f"n{number}", diary.world.now())


def recreate(diary: Diary) -> None:
    delete(diary)
    create(diary)


def nothing(_diary: Diary) -> None:
    return None


def rest(diary: Diary) -> None:
    """Pauses all polls for ten minutes."""
    diary.world.wait(600)


HAPPENINGS: list[Callable[[Diary], None]] = [
    *(change_first, change_first, change_first, nothing, nothing),
    *(add, delete_task, complete, delete, create, recreate, rest),
]
slow = st.sampled_from([0, 0, 1, 3])  # seconds a call
polls = st.tuples(
    st.sampled_from(HAPPENINGS),
    st.integers(0, 1),
    st.none() | st.builds(Fault, call=st.integers(1, 12), committed=st.booleans(), kills=st.booleans()),
    st.none()
    | st.tuples(
        st.tuples(slow, slow),
        st.sampled_from([0, 1, 3, 10]),
        st.sampled_from([0, 0.5]).map(lambda seconds: (seconds, seconds)),
    ),
    st.sampled_from([False, False, False, True]),
)


@given(st.lists(polls, min_size=3, max_size=14), st.sampled_from([2, 20_000]))
def test_the_points_show_the_truth_at_every_poll(
    story: list[tuple[Callable[[Diary], None], int, Fault | None, Both | None, bool]], short_read: int
) -> None:
    world = World()
    try:
        world.service.page_size, world.service.short_read = 2, short_read
        world.processes = [world.started(), world.started()]
        diary = Diary(world)
        diary.poll()
        for happening, who, fault, both, full in story:
            happening(diary)
            diary.poll(who, fault=fault, both=both, full=full)
        diary.check()
    finally:
        world.close()


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", range(1, 10))
def test_a_death_at_any_call_loses_nothing(world: World, call: int, *, committed: bool) -> None:
    diary = Diary(world)
    for number in range(5):
        change_first(diary)
        diary.poll(fault=Fault(call, committed=committed, kills=True) if number == 3 else None)
    change_first(diary)
    diary.poll()
    diary.poll()
    diary.check()
    assert len({point.numbers for point in history(world)} - {None}) >= 5


def test_an_unchanged_job_costs_no_call_to_storage(world: World) -> None:
    def calls_of_a_round() -> int:
        world.wait(61)
        world.processes[0].connection.arm(None)
        world.poll(check=False)
        return world.processes[0].connection.calls

    calls_of_a_round()
    without = calls_of_a_round()
    world.create("Render", "a")
    polled_for_a_while(world)
    writes = len(world.storage.writes)
    assert calls_of_a_round() == without
    assert world.storage.writes[writes:] == ["accounts"]


def test_a_job_that_changes_costs_one_transaction_of_history_a_poll(world: World) -> None:
    diary = Diary(world)
    diary.poll()
    for _ in range(2):
        change_first(diary)
        diary.poll()
    writes = len(world.storage.writes)
    change_first(diary)
    diary.poll()
    assert world.storage.writes[writes:].count("jobhistory") <= 2  # rows: one of an hour, one of a day


def test_a_job_that_rests_for_hours_has_no_gap(world: World) -> None:
    """Its row isn't written meanwhile, nor at the end of the rest, which may be a deletion or a re-creation."""
    diary = Diary(world)
    for ending in (change_first, recreate, delete_task, change_first, delete):
        last = world.now()
        for _ in range(150):
            world.wait(60)
            world.poll(check=False)
        world.wait(1)
        ending(diary)
        for _ in range(4):
            diary.poll(full=True)
    last += timedelta(minutes=150)
    gaps = [point.time for point in history(world)[3:] if point.numbers is None]
    assert [at for at in gaps if at <= last] == []
    assert [at for at in gaps if at > last + timedelta(minutes=3)]
    diary.check()


def test_a_job_that_is_read_anew_by_the_queue_has_no_gap(world: World) -> None:
    world.service.page_size, world.service.short_read = 2, 3
    world.processes = [world.started(), world.started()]
    diary = Diary(world)
    for name in "defgh":
        diary.world.truth.jobs["Render"][0].add(name, world.now())
    diary.poll()
    world.deliver_all()
    for _ in range(3):
        diary.poll()
    delete_task(diary)
    for _ in range(12):
        diary.poll(1)
        world.deliver(budget=1)
    world.deliver_all()
    for _ in range(3):
        diary.poll()
    points = history(world)
    assert [point.time for point in points[3:] if point.numbers is None] == []
    assert points[-1].numbers == TaskCounts(active=7)
    diary.check()


def test_a_job_that_is_polled_while_it_is_read_anew_has_no_gap(world: World) -> None:
    """The read lasts longer than samples bridge a gap; polls continue with the old generation."""
    world.service.page_size, world.service.short_read = 1, 3
    world.processes = [world.started(), world.started()]
    job = world.create("Render", *"abcdefgh")
    for _ in range(4):
        world.wait(61)
        world.poll()
        world.deliver_all()
    job.delete_task("a", world.now())
    while not world.messages:
        world.wait(61)
        world.poll()
    slow, fast = world.processes
    slow.batch.latency = 40

    async def polls() -> None:
        for _ in range(20):
            await asyncio.sleep(61)
            await fast.poll()

    async def both() -> None:
        await asyncio.gather(slow.queued.run("Render", budget=timedelta(days=1)), polls())

    generation = world.report("Render").job.snapshot
    world.run(both())
    fresh = world.report("Render").job.snapshot
    assert generation
    assert fresh
    assert fresh.generation != generation.generation
    assert [point.time for point in history(world)[3:] if point.numbers is None] == []


def test_a_job_that_was_called_missing_for_some_rounds_has_no_gap(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    first = world.now()
    world.service.refusals["jobs/Render*"] = BatchMissingError("404: no job Render", code="JobNotFound")
    for _ in range(4):
        world.wait(60)
        world.poll(check=False)
    assert world.report("Render").job.deleted
    world.service.refusals.clear()
    for _ in range(2):
        world.wait(60)
        world.poll()
    assert all(point.numbers for point in history(world, since=first))


def test_time_without_polls_is_a_gap(world: World) -> None:
    diary = Diary(world)
    for _ in range(4):
        diary.poll()
    world.wait(600)
    change_first(diary)
    for _ in range(4):
        diary.poll()
    gaps = [point.time for point in history(world) if point.numbers is None]
    assert [(at - START) // timedelta(minutes=1) for at in gaps] == [*range(7, 15)]
    diary.check()


def test_a_deleted_job_has_its_history_when_its_tasks_and_its_row_are_gone(world: World) -> None:
    diary = Diary(world)
    for _ in range(5):
        change_first(diary)
        diary.poll()
    job = diary.job()
    assert job
    delete(diary)
    for _ in range(4):
        diary.poll(full=True)
    diary.check()
    before = history(world)
    world.wait(31 * DAY)
    world.run(world.processes[0].housekeeping.run())
    assert not world.storage.rows["tasks"]
    with pytest.raises(NotFoundError):
        world.run(world.started().queries.job("demo", "Render"))
    plain = world.run(world.started().histories.read("demo", "Render"))
    assert len(plain.points) == 288
    assert {point.numbers for point in plain.points} == {None}
    coarse = [point for point in history(world, minutes=15) if point.numbers]
    assert [point.numbers for point in coarse] == [job.counts(START + timedelta(minutes=6))]
    assert before[4].numbers == job.counts(START + timedelta(minutes=5))


def test_history_is_kept_for_its_time_and_no_longer(world: World) -> None:
    diary = Diary(world)
    for _ in range(5):
        change_first(diary)
        diary.poll()
    world.create("Other", "a")
    for _ in range(8):
        world.wait(DAY)
        diary.poll()
    world.run(world.processes[0].housekeeping.run())
    kept = sorted(row for partition, row in world.storage.rows["jobhistory"] if partition == "demo~render")
    now = to_milliseconds(world.now())
    assert kept[0] == QUARTERS.row(QUARTERS.slot(to_milliseconds(START + timedelta(minutes=1))))
    assert next(row for row in kept if row[0] == "h") == MINUTES.row(MINUTES.first_row(now - 7 * DAY * 1000) * 60)
    with pytest.raises(HistoryRangeError, match="kept for 7 days"):
        history(world)
    assert history(world, minutes=15)[0].numbers
    assert history(world, minutes=None)[0].time - START == timedelta(minutes=30)
    world.wait(91 * DAY)
    world.run(world.processes[0].housekeeping.run())
    assert not world.storage.rows["jobhistory"]


def test_a_job_with_an_unreadable_row_has_its_history_without_that_row(world: World) -> None:
    diary = Diary(world)
    for _ in range(5):
        change_first(diary)
        diary.poll()
    row, _ = world.storage.rows["jobs"]["demo", "render"]
    row["source"] = "unheard-of"
    points = history(world)
    assert [point for point in points if point.numbers]
    for point in points:
        diary._check_claim(point)


def test_an_unknown_job_has_no_history(world: World) -> None:
    for name in ("nope", "n" * 2000):
        with pytest.raises(NotFoundError):
            world.run(world.started().histories.read("demo", name))
