"""Filtered lists of large jobs have many pages, most of them empty: no round waits for their end."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import override

import pytest

from shared.domain.reads.id_ranges import IdRange
from shared.errors import BatchUnreachableError
from shared.services.reading.read_state import SHORT_LIST
from shared.stores.batch.batch import TaskPage
from shared.stores.batch.batch_addresses import StateFilter
from tests.services.fakes.fake_batch import FakeBatch
from tests.services.fakes.truth import ACTIVE, COMPLETED, PREPARING, RUNNING, TrueJob
from tests.services.worlds.process import INTERVAL, Recipe
from tests.services.worlds.telling import last_round, polled_for_a_while, requests_of, verdict
from tests.services.worlds.world import SECOND, World

NOW = timedelta()
BIG, OTHER = "Big", "Other"
NAMES = [f"task-{number:03}" for number in range(3 * SHORT_LIST)]
TASKS = f"jobs/{BIG}/tasks"


@pytest.fixture
def world() -> Iterator[World]:
    """Yields a world where every list examines one task a page, whether it matches or not."""
    world = World()
    world.service.page_size = 1
    yield world
    world.close()


@pytest.fixture
def filtered() -> Iterator[World]:
    """Yields a world where only lists of tasks in one state examine one task a page."""

    class SlowlyFilteredBatch(FakeBatch):
        @override
        async def fetch_task_page(
            self, job_id: str, ids: IdRange, *, changed_since: datetime | None = None, state: StateFilter | None = None
        ) -> TaskPage:
            self._service.page_size = 1 if state else len(NAMES) // 2
            return await super().fetch_task_page(job_id, ids, changed_since=changed_since, state=state)

    world = World(Recipe(batch=SlowlyFilteredBatch))
    yield world
    world.close()


def known(world: World, *, state: int = ACTIVE) -> TrueJob:
    """Creates a job whose tasks were read, and a small one; both are settled."""
    world.service.page_size = len(NAMES)
    world.create(OTHER, "a")
    job = world.create(BIG, *NAMES)
    if state != ACTIVE:
        for name in NAMES[1:]:
            job.change(name, state, at=world.now() + SECOND, lag=NOW, skew=NOW)
    polled_for_a_while(world)
    assert verdict(world, BIG).level == "exact"
    world.service.page_size = 1
    return job


def left_for_a_repair(world: World) -> TrueJob:
    """Returns a job with a lasting difference, after the round whose repair met a list of many pages."""
    job = known(world, state=COMPLETED)
    job.drifts = True
    job.change(NAMES[0], COMPLETED, at=world.now(), lag=400 * SECOND, skew=NOW)
    while not world.messages:
        world.wait(61)
        world.poll()
    return job


def assert_right(world: World, job: TrueJob) -> None:
    snapshot = world.report(BIG).job.snapshot
    assert snapshot
    assert snapshot.counts == job.counts(world.now())


@pytest.mark.parametrize("changed", [[], NAMES[:1], NAMES[-1:]], ids=["nothing", "the first task", "the last task"])
def test_a_delta_of_many_pages_is_left_to_the_queue_where_it_goes_on(world: World, changed: list[str]) -> None:
    job = known(world)
    for name in changed:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    asked = requests_of(world, world.poll)
    if not world.messages:  # polls of settled jobs request changes and counts alternately
        world.wait(61)
        asked = requests_of(world, world.poll)
    t0 = last_round(world).as_of
    assert asked.count(TASKS) <= 2 * SHORT_LIST
    assert verdict(world, OTHER).level == "exact"
    assert [message.job for message in world.messages] == [BIG]
    asked = requests_of(world, world.deliver_all)
    assert asked.count(TASKS) == len(NAMES) - SHORT_LIST
    snapshot = world.report(BIG).job.snapshot
    assert snapshot
    assert snapshot.looked_at == t0
    assert_right(world, job)


def test_a_round_leaves_the_delta_that_its_deadline_meets(world: World) -> None:
    job = known(world)
    world.service.page_size = 4
    job.change(NAMES[0], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    process, began = world.processes[0], world.loop.time()
    process.batch.latency = 2
    world.run(process.rounds.run_if_due(INTERVAL, budget=20 * SECOND))
    assert world.loop.time() - began < 25
    assert verdict(world, OTHER).level == "exact"
    world.messages += process.polling.take_messages()
    process.batch.latency = 0
    asked = requests_of(world, world.deliver_all)
    assert 0 < asked.count(TASKS) <= len(NAMES) / 4 - 8
    assert_right(world, job)


def test_a_repair_whose_lists_have_many_pages_gives_way_to_a_full_read_in_the_queue(world: World) -> None:
    job = known(world, state=COMPLETED)
    job.drifts = True
    job.change(NAMES[0], COMPLETED, at=world.now(), lag=400 * SECOND, skew=NOW)
    world.service.page_size = len(NAMES)
    while verdict(world, BIG).level == "exact":
        world.wait(61)
        world.poll()
    world.service.page_size = 1
    for _ in range(10):
        world.wait(61)
        asked = requests_of(world, world.poll)
        assert asked.count(TASKS) <= 3 * SHORT_LIST
        world.deliver_all()
    assert job.counts(world.now()).completed == len(NAMES)
    assert_right(world, job)


def test_rounds_leave_a_repair_alone_whose_full_read_waits_in_the_queue(filtered: World) -> None:
    world, job = filtered, left_for_a_repair(filtered)
    world.wait(61)
    assert requests_of(world, world.poll).count(TASKS) == 4  # the delta, and the recent changes
    assert verdict(world, BIG).level == "unverified"
    world.deliver_all()
    assert verdict(world, BIG).level == "exact"
    assert_right(world, job)


def test_a_round_does_a_full_read_that_no_worker_began_within_two_minutes(filtered: World) -> None:
    world, job = filtered, left_for_a_repair(filtered)
    for _ in range(2):
        world.wait(61)
        world.poll()
    assert verdict(world, BIG).level == "exact"
    assert world.report(BIG).verdict.source == "fullRead"
    world.deliver_all()
    assert_right(world, job)


def test_a_message_after_a_round_that_could_not_list_jobs_dates_its_read_all_the_same(filtered: World) -> None:
    world, job = filtered, left_for_a_repair(filtered)
    world.wait(61)
    world.poll()
    world.service.refusals["jobs"] = BatchUnreachableError("http://127.0.0.1:1", "down")
    world.wait(61)
    world.poll(check=False)
    del world.service.refusals["jobs"]
    world.deliver_all()
    report = world.report(BIG)
    assert report.verdict.source == "fullRead"
    assert "down" in report.verdict.reason
    assert_right(world, job)


def test_a_difference_that_a_full_read_made_good_is_no_difference_of_the_new_generation(filtered: World) -> None:
    world = filtered
    job = known(world)
    job.change(NAMES[0], PREPARING, at=world.now(), lag=NOW, skew=NOW)
    polled_for_a_while(world)
    assert verdict(world, BIG).level == "exact"
    job.delete_task(NAMES[1], world.now())
    while world.report(BIG).verdict.source != "fullRead":
        world.wait(61)
        world.poll()
        world.deliver_all()
    assert "(here" not in verdict(world, BIG).reason
    for _ in range(3):
        world.wait(61)
        assert requests_of(world, world.poll).count(TASKS) == 2 + SHORT_LIST  # the delta, and the preparing tasks
    assert_right(world, job)


def test_a_poll_that_a_message_begins_ends_in_time_and_goes_on_with_the_next_message(world: World) -> None:
    job = known(world)
    world.service.page_size, world.service.short_read = 4, 10
    world.processes = [world.started(), world.started()]
    world.wait(100_000)
    world.poll()
    assert [message.job for message in world.messages] == [BIG]  # to be read in full after a day
    deliveries = 0
    while world.messages:
        began = world.loop.time()
        world.deliver(budget=20, takes=2)
        assert world.loop.time() - began < 30
        deliveries += 1
    assert deliveries > 1
    assert verdict(world, BIG).source == "fullRead"
    assert_right(world, job)


def test_counts_of_preparing_and_running_tasks_do_where_their_list_has_many_pages(
    world: World,
) -> None:
    job = known(world)
    job.change(NAMES[0], PREPARING, at=world.now(), lag=NOW, skew=NOW)
    world.service.page_size = len(NAMES)
    polled_for_a_while(world)
    assert verdict(world, BIG).level == "exact"
    job.change(NAMES[1], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.service.page_size = 1
    agreed = _agreed_at(world)
    world.wait(61)
    world.poll()
    asked = requests_of(world, world.deliver_all)
    assert asked.count(TASKS) == len(NAMES)  # the rest of the delta, and an equal number of preparing tasks
    assert _agreed_at(world) > agreed
    assert verdict(world, BIG).level == "exact"
    assert_right(world, job)
    for _ in range(30):
        world.wait(61)
        world.poll()
        world.deliver_all()
    assert verdict(world, BIG).level == "exact"
    assert world.report(BIG).verdict.source == "delta"  # nothing was read in full


def _agreed_at(world: World) -> datetime:
    snapshot = world.report(BIG).job.snapshot
    assert snapshot
    assert not snapshot.agreement.disagreements
    assert snapshot.agreement.at
    return snapshot.agreement.at


def test_lagging_counts_are_no_difference_where_the_delta_has_many_pages(world: World) -> None:
    job = known(world)
    world.service.page_size, world.service.count_lag = 1, 400 * SECOND
    agreed = _agreed_at(world)
    for name in NAMES[:3]:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
        world.wait(61)
        world.poll()
        world.deliver_all()
    assert _agreed_at(world) == agreed
    assert_right(world, job)


def test_a_task_deleted_where_nothing_moves_is_noticed_though_lists_have_many_pages(world: World) -> None:
    job = known(world)
    job.delete_task(NAMES[0], world.now())
    for _ in range(6):
        world.wait(61)
        world.poll()
        world.deliver_all()
    assert verdict(world, BIG).level == "exact"
    assert_right(world, job)
