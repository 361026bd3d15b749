"""Reads that take longer than a round may: they go on in the queue, in whichever process gets the message."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import override

import pytest

from shared.domain import id_ranges
from shared.domain.id_ranges import IdRange
from shared.domain.read_plans import ReadPlan
from shared.errors import BatchThrottledError
from shared.services import range_lists
from shared.stores.batch import StateFilter, TaskPage
from shared.stores.jobs import generation_partition
from tests.services.fake_batch import FakeBatch
from tests.services.memory_tables import Fault
from tests.services.process import Recipe
from tests.services.spoiling import spoil_leaves
from tests.services.telling import last_round, polled_for_a_while, requests_of, verdict
from tests.services.truth import COMPLETED, RUNNING, TrueJob
from tests.services.world import SECOND, World

NOW = timedelta()
NAMES = [f"task-{number:03}" for number in range(40)]
JOB, OTHER = "Render", "Small"


@dataclass(slots=True)
class Lists:
    """What was asked of lists of all tasks and of changes, by all processes: each page's ids, and those behind it.

    The page after `throttled_after` more is refused once; a list of all tasks begins with so many `empty` pages. With
    `first_backwards` its first page is in no order.
    """

    whole: list[set[str]] = field(default_factory=list)
    changes: list[tuple[datetime, bool, set[str]]] = field(default_factory=list)  # since, whether it went on, ids
    throttled_after: int | None = None
    empty: int = 0
    first_backwards: bool = False
    told_empty: dict[tuple[str | None, str | None], int] = field(default_factory=dict)

    def changed(self, ids: IdRange, page: TaskPage) -> TaskPage:
        """The page as this service tells it, or one before it that shows none of its tasks."""
        bounds = ids.low, ids.high
        if ids.cursor is None:
            page = replace(page, tasks=page.tasks[::-1]) if self.first_backwards else page
            self.told_empty[bounds] = 0
        if self.told_empty.get(bounds, self.empty) >= self.empty:
            return page
        self.told_empty[bounds] += 1
        return replace(page, tasks=[], next_link=json.dumps([*bounds, "", None, None]))

    def look(self, ids: IdRange, since: datetime | None, page: TaskPage) -> None:
        names = {task.id for task in page.tasks}
        if since is None:
            self.whole.append(names)
        else:
            self.changes.append((since, ids.cursor is not None, names))

    def is_refused(self) -> bool:
        if self.throttled_after is None:
            return False
        self.throttled_after -= 1
        if self.throttled_after >= 0:
            return False
        self.throttled_after = None
        return True


@pytest.fixture
def lists() -> Lists:
    return Lists()


@pytest.fixture
def world(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Pages of three tasks; a round may read ten, and what was received is stored after six more."""
    monkeypatch.setattr(range_lists, "_AT_ONCE", 4)
    monkeypatch.setattr(id_ranges, "_LEAST_PART", 9)

    class WatchedBatch(FakeBatch):
        @override
        async def fetch_task_page(
            self, job_id: str, ids: IdRange, *, changed_since: datetime | None = None, state: StateFilter | None = None
        ) -> TaskPage:
            if job_id == JOB and lists.is_refused():
                raise BatchThrottledError("http://127.0.0.1:1", 90 * SECOND, status=429)
            page = await super().fetch_task_page(job_id, ids, changed_since=changed_since, state=state)
            if job_id == JOB and changed_since is None and state is None:
                page = lists.changed(ids, page)
            if job_id == JOB and state is None:
                lists.look(ids, changed_since, page)
            return page

    world = World(Recipe(batch=WatchedBatch))
    world.service.page_size, world.service.short_read = 3, 10
    world.processes = [world.started(), world.started()]
    yield world
    world.close()


def left_to_the_queue(world: World) -> TrueJob:
    """A job too long for a round, after the round that found that out."""
    job = world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    assert [message.job for message in world.messages] == [JOB]
    return job


def begun(world: World, seconds: float = 6) -> ReadPlan:
    """Its read amid its ranges, part of it stored."""
    world.deliver(budget=seconds, takes=1)
    plan = plan_of(world)
    assert plan is not None
    assert plan.tasks
    assert plan.ranges
    return plan


def plan_of(world: World) -> ReadPlan | None:
    process = world.started()
    job = world.run(process.jobs.load("demo", JOB))
    if job is None:
        return None
    generation = job.building or (job.picture.generation if job.picture else "")
    return world.run(process.plans.load(generation_partition("demo", job.key, generation)))


def is_left(plan: ReadPlan, name: str) -> bool:
    """Whether a task lies in what a plan still has to list, by what the fake's links say."""
    for ids in plan.ranges:
        low, high, after = json.loads(ids.cursor)[:3] if ids.cursor else (ids.low, ids.high, "")
        if (low is None or name >= low) and (high is None or name < high) and name > after:
            return True
    return False


def assert_right(world: World, job: TrueJob) -> None:
    """After two rounds, and whatever they left to the queue, the counts are those of the truth and exact."""
    for _ in range(2):
        world.wait(61)
        world.poll()
        world.deliver_all()
    world.wait(61)
    world.poll()
    report = world.report(JOB)
    assert report.job.picture
    assert report.job.picture.counts == job.counts(world.now())
    assert report.verdict.level == "exact"
    assert plan_of(world) is None


def test_a_job_too_long_for_a_round_is_read_by_whoever_gets_its_message(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    assert last_round(world).is_queued("render", world.now())
    assert world.deliver(who=1)
    assert world.report(JOB).verdict.source == "firstRead"
    assert not world.messages
    assert not last_round(world).queued
    assert sorted(world.cached(JOB)) == NAMES
    assert_right(world, job)


def test_its_ranges_are_listed_at_the_same_time(world: World) -> None:
    left_to_the_queue(world)
    world.deliver(budget=90, takes=10)  # fourteen pages
    plan = plan_of(world)
    assert plan
    assert plan.since is not None


@pytest.mark.parametrize("empty", [1, 3])
def test_a_list_is_divided_by_its_first_page_that_has_tasks(world: World, lists: Lists, empty: int) -> None:
    lists.empty = empty
    left_to_the_queue(world)
    world.deliver(budget=empty + 2, takes=1)
    plan = plan_of(world)
    assert plan
    assert len(plan.ranges) > 1


def test_a_list_that_only_began_with_empty_pages_is_divided_by_whoever_goes_on(world: World, lists: Lists) -> None:
    lists.empty = 2
    job = left_to_the_queue(world)
    world.deliver(budget=2, takes=1)
    plan = plan_of(world)
    assert plan
    assert [ids.cursor is not None for ids in plan.ranges] == [True]
    world.deliver(who=1, budget=3, takes=1)
    plan = plan_of(world)
    assert plan
    assert len(plan.ranges) > 1
    world.deliver_all()
    assert_right(world, job)


@pytest.mark.parametrize("budgets", [[1000], [2, 1000]], ids=["at once", "in two goes"])
def test_a_range_is_not_divided_any_more_once_tasks_of_it_were_received(
    world: World, lists: Lists, budgets: list[float]
) -> None:
    lists.first_backwards = True
    left_to_the_queue(world)
    lists.whole.clear()
    for budget in budgets:
        world.deliver(budget=budget, takes=1)
    names = [name for names in lists.whole for name in names]
    assert len(names) == len(set(names)) == len(NAMES)


@pytest.mark.parametrize("committed", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("call", range(1, 36))
def test_a_death_at_any_storage_call_loses_nothing_and_repeats_no_finished_range(
    world: World, lists: Lists, call: int, *, committed: bool
) -> None:
    job = left_to_the_queue(world)
    world.deliver(takes=1, fault=Fault(call, committed=committed, kills=True))
    plan, asked = plan_of(world), len(lists.whole)
    job.change(NAMES[3], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    job.add("task-999", world.now())
    world.deliver_all()
    if plan is not None and plan.since is None:
        again = {name for names in lists.whole[asked:] for name in names}
        assert {name for name in again if not is_left(plan, name)} == set()
    elif plan is not None:
        assert lists.whole[asked:] == []
    assert_right(world, job)


@pytest.mark.parametrize("call", range(4, 40, 4))
def test_a_death_while_pages_come_empty_loses_nothing(world: World, lists: Lists, call: int) -> None:
    lists.empty = 2
    job = left_to_the_queue(world)
    world.deliver(takes=1, fault=Fault(call, committed=True, kills=True))
    world.deliver(budget=3, takes=1)
    world.deliver_all()
    assert sorted(world.cached(JOB)) == NAMES
    assert_right(world, job)


@pytest.mark.parametrize("kills", [False, True], ids=["an answer lost", "a death"])
@pytest.mark.parametrize("call", range(2, 24, 3))
def test_deaths_one_after_another_end_all_the_same(world: World, call: int, *, kills: bool) -> None:
    job = left_to_the_queue(world)
    for number in range(6):
        world.deliver(who=number % 2, takes=1, fault=Fault(call, committed=bool(number % 2), kills=kills))
    world.deliver_all()
    assert_right(world, job)


@pytest.mark.parametrize("delay", [0, 1, 3, 5, 8])
def test_two_workers_on_one_job_never_spoil_it(world: World, delay: float) -> None:
    job = left_to_the_queue(world)
    first, second = world.processes
    for process in world.processes:
        process.batch.latency, process.connection.latency = 1, 0.2

    async def later() -> None:
        await asyncio.sleep(delay)
        await second.queued.run(JOB, budget=timedelta(days=1))

    async def both() -> None:
        await asyncio.gather(first.queued.run(JOB, budget=timedelta(days=1)), later())

    job.change(NAMES[5], COMPLETED, at=world.now() + 4 * SECOND, lag=NOW, skew=NOW)
    world.run(both())
    for process in world.processes:
        process.batch.latency = process.connection.latency = 0
    assert_right(world, job)


def test_a_message_that_comes_twice_changes_nothing(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver(keep=True)
    first = world.report(JOB).job.picture
    world.deliver(who=1)
    second = world.report(JOB).job.picture
    assert first
    assert second
    assert (second.generation, second.counts) == (first.generation, first.counts)
    assert_right(world, job)


def test_a_lost_message_is_sent_again_after_ten_minutes(world: World) -> None:
    job = left_to_the_queue(world)
    world.messages.clear()
    for _ in range(9):
        world.wait(61)
        world.poll()
    assert not world.messages
    world.wait(61)
    world.poll()
    assert [message.job for message in world.messages] == [JOB]
    world.deliver_all()
    assert_right(world, job)


def test_a_delta_that_is_too_long_goes_on_with_its_t0_where_it_was_left(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    t0 = last_round(world).as_of
    plan = plan_of(world)
    assert plan
    assert (plan.as_of, plan.since is not None) == (t0, True)
    asked, listed = len(lists.changes), len(lists.whole)
    world.wait(120)
    world.deliver(who=1)
    since, went_on, _ = lists.changes[asked]
    assert (since, went_on) == (plan.since, True)
    picture = world.report(JOB).job.picture
    assert picture
    assert (picture.as_of, picture.source) == (t0, "delta")
    assert len(lists.whole) == listed
    assert_right(world, job)


def test_a_delta_whose_links_have_grown_old_begins_anew(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    assert plan_of(world)
    world.wait(7200)
    world.poll()  # another message, as the first is taken for lost
    asked = len(lists.changes)
    world.deliver_all()
    world.wait(61)
    world.poll()
    _, went_on, _ = lists.changes[asked]
    assert not went_on
    assert_right(world, job)


def test_polls_of_the_old_generation_go_on_while_a_full_read_is_in_the_queue(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    before = world.report(JOB).job.picture
    assert before
    job.delete_task(NAMES[0], world.now())
    while not world.messages:
        world.wait(61)
        world.poll()
    world.deliver(budget=6, takes=1)
    assert plan_of(world)
    job.change(NAMES[7], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    for _ in range(3):
        world.wait(61)
        world.poll()
    old = world.report(JOB).job.picture
    assert old
    assert old.generation == before.generation
    assert (old.as_of > before.as_of, old.counts.running) == (True, 1)
    world.deliver_all()
    new = world.report(JOB).job.picture
    assert new
    assert new.generation != before.generation
    assert NAMES[0] not in world.cached(JOB)
    assert world.cached(JOB)[NAMES[7]].state == RUNNING
    assert_right(world, job)


def test_throttling_keeps_what_was_received_and_the_account_is_left_alone(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    lists.throttled_after = 7
    world.deliver()
    plan = plan_of(world)
    assert plan
    assert plan.tasks
    assert "throttling" in verdict(world, JOB).reason
    assert requests_of(world, world.poll) == []
    world.wait(91)
    world.poll()
    asked = len(lists.whole)
    world.deliver_all()
    again = {name for names in lists.whole[asked:] for name in names}
    assert {name for name in again if not is_left(plan, name)} == set()
    assert_right(world, job)


def test_the_account_is_left_alone_from_when_it_asked_for_that(world: World, lists: Lists) -> None:
    left_to_the_queue(world)
    lists.throttled_after = 20
    world.deliver(takes=60)
    assert last_round(world).wait(world.now()) == 90 * SECOND


def test_other_jobs_are_polled_meanwhile(world: World) -> None:
    world.create(OTHER, "a", "b")
    left_to_the_queue(world)
    begun(world)
    for _ in range(3):
        world.wait(61)
        asked = requests_of(world, world.poll)
        assert f"jobs/{OTHER}/tasks" in asked or f"jobs/{OTHER}/counts" in asked
        assert f"jobs/{JOB}/tasks" not in asked
    assert verdict(world, OTHER).level == "exact"


def test_the_verdict_tells_how_far_a_first_read_is(world: World) -> None:
    left_to_the_queue(world)
    plan = begun(world)
    judged = verdict(world, JOB)
    assert judged.level == "catchingUp"
    assert f"{plan.tasks} of about {len(NAMES)}" in judged.reason


def test_housekeeping_leaves_a_long_read_alone_that_goes_on(world: World) -> None:
    job = left_to_the_queue(world)
    building = None
    for _ in range(3):
        world.deliver(budget=2, takes=1)
        stored = world.run(world.started().jobs.load("demo", JOB))
        assert stored
        building = building or stored.building
        assert stored.building == building
        world.wait(3000)
        world.run(world.processes[0].housekeeping.run())
    world.deliver_all()
    picture = world.report(JOB).job.picture
    assert picture
    assert picture.generation == building
    assert_right(world, job)


def test_a_job_that_is_deleted_during_its_long_read_ends_it(world: World) -> None:
    job = left_to_the_queue(world)
    begun(world)
    job.deleted = world.now()
    world.wait(61)
    world.deliver_all()
    world.wait(20 * 60)
    world.poll(full=True)
    world.deliver_all()
    assert world.report(JOB).job.deleted
    assert not world.messages


def test_a_job_that_is_created_anew_during_its_long_read_is_read_anew(world: World) -> None:
    job = left_to_the_queue(world)
    begun(world)
    job.deleted = world.now()
    anew = world.truth.create(JOB, world.now())
    for name in NAMES[:25]:
        anew.add(name, world.now())
    world.wait(61)
    world.deliver_all()
    world.poll(full=True)
    world.deliver_all()
    assert_right(world, anew)
    assert sorted(world.cached(JOB)) == NAMES[:25]


def test_many_tasks_that_cannot_be_read_are_read_anew_in_the_queue(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    assert_right(world, job)
    lists.whole.clear()
    spoil_leaves(world)
    world.wait(900)
    job.change(NAMES[7], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(1)
    world.poll(check=False)
    assert [message.job for message in world.messages] == [JOB]
    world.deliver_all()
    assert_right(world, job)
    assert set().union(*lists.whole) == set(NAMES)


def test_a_long_delta_that_meets_leaves_that_cannot_be_read_gives_way_to_a_full_read(
    world: World, lists: Lists
) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    world.wait(900)
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    plan = plan_of(world)
    assert plan
    assert plan.since is not None
    lists.whole.clear()
    spoil_leaves(world)
    world.deliver_all()
    assert_right(world, job)
    assert set().union(*lists.whole) == set(NAMES)
