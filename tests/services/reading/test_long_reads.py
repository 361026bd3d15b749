"""Reads longer than a round may last: they continue in the queue, in any process that receives the message."""

import asyncio
from datetime import timedelta

import pytest

from tests.services.fakes.truth import RUNNING
from tests.services.reading.long_read_world import (
    JOB,
    NAMES,
    NOW,
    Lists,
    assert_right,
    begun,
    is_left,
    left_to_the_queue,
    lists,
    mapping_of,
    world,
)
from tests.services.worlds.telling import last_round, polled_for_a_while, requests_of, verdict
from tests.services.worlds.world import SECOND, World

__all__ = ["lists", "world"]

OTHER = "Small"


def test_a_job_too_long_for_a_round_is_read_by_a_worker_of_the_queue(world: World, lists: Lists) -> None:
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
    plan = mapping_of(world)
    assert plan
    assert plan.since is not None


@pytest.mark.parametrize("empty", [1, 3])
def test_a_list_is_divided_by_its_first_page_that_has_tasks(world: World, lists: Lists, empty: int) -> None:
    lists.empty = empty
    left_to_the_queue(world)
    world.deliver(budget=empty + 2, takes=1)
    plan = mapping_of(world)
    assert plan
    assert len(plan.ranges) > 1


def test_a_list_that_only_began_with_empty_pages_is_divided_by_the_next_worker(world: World, lists: Lists) -> None:
    lists.empty = 2
    job = left_to_the_queue(world)
    world.deliver(budget=2, takes=1)
    plan = mapping_of(world)
    assert plan
    assert [ids.cursor is not None for ids in plan.ranges] == [True]
    world.deliver(who=1, budget=3, takes=1)
    plan = mapping_of(world)
    assert plan
    assert len(plan.ranges) > 1
    world.deliver_all()
    assert_right(world, job)


def test_how_far_a_list_of_empty_pages_came_is_stored_while_it_goes_on(world: World, lists: Lists) -> None:
    lists.empty = 100
    left_to_the_queue(world)
    process = world.processes[1]
    process.batch.latency = 10
    reading = world.loop.create_task(process.queued.run(JOB, budget=600 * SECOND))
    world.wait(55)
    plan = mapping_of(world)
    assert plan
    assert [ids.cursor is not None for ids in plan.ranges] == [True]
    assert plan.newest
    assert plan.newest >= world.now() - 40 * SECOND
    reading.cancel()


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


def test_a_delta_that_is_too_long_goes_on_with_its_t0_where_it_was_left(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    t0 = last_round(world).as_of
    plan = mapping_of(world)
    assert plan
    assert (plan.as_of, plan.since is not None) == (t0, True)
    asked, listed = len(lists.changes), len(lists.whole)
    world.wait(120)
    world.deliver(who=1)
    since, went_on, _ = lists.changes[asked]
    assert (since, went_on) == (plan.since, True)
    snapshot = world.report(JOB).job.snapshot
    assert snapshot
    assert (snapshot.as_of, snapshot.source) == (t0, "delta")
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
    assert mapping_of(world)
    world.wait(7200)
    world.poll()  # another message, as the first is presumed lost
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
    before = world.report(JOB).job.snapshot
    assert before
    job.delete_task(NAMES[0], world.now())
    while not world.messages:
        world.wait(61)
        world.poll()
    world.deliver(budget=6, takes=1)
    assert mapping_of(world)
    job.change(NAMES[7], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    for _ in range(3):
        world.wait(61)
        world.poll()
    old = world.report(JOB).job.snapshot
    assert old
    assert old.generation == before.generation
    assert (old.as_of > before.as_of, old.counts.running) == (True, 1)
    world.deliver_all()
    new = world.report(JOB).job.snapshot
    assert new
    assert new.generation != before.generation
    assert NAMES[0] not in world.cached(JOB)
    assert world.cached(JOB)[NAMES[7]].state == RUNNING
    assert_right(world, job)


def test_a_job_that_waits_for_its_daily_full_read_is_polled_meanwhile(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    world.wait(86_400 * 1.2)
    world.poll()
    assert [message.job for message in world.messages] == [JOB]
    job.change(NAMES[7], RUNNING, at=world.now(), lag=NOW, skew=NOW)
    polled_for_a_while(world)
    report = world.report(JOB)
    assert report.job.building is None
    assert report.job.snapshot
    assert report.job.snapshot.counts.running == 1
    assert (report.verdict.level, report.verdict.checked_at) == ("exact", last_round(world).as_of)
    assert len(world.messages) == 2  # one was sent again, as nobody began on it
    world.deliver_all()
    assert_right(world, job)


@pytest.mark.parametrize("filling", [False, True], ids=["by itself", "while a full read is under way"])
def test_changes_too_long_for_a_round_are_left_to_the_queue_and_said_so(world: World, *, filling: bool) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    if filling:
        world.wait(86_400 * 1.2)
        world.poll()
        world.deliver(budget=2, takes=1)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    world.wait(61)
    assert f"jobs/{JOB}/tasks" not in requests_of(world, world.poll)
    judged = verdict(world, JOB)
    assert (judged.level, judged.reason) == (
        "catchingUp",
        "Too many changes for one poll; catching up in the background.",
    )
    world.deliver_all()
    assert_right(world, job)


def test_changes_that_a_poll_on_demand_read_first_are_not_waited_for(world: World) -> None:
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(61)
    world.poll()
    plan = mapping_of(world)
    assert plan
    for process in world.processes:
        process.task_poll.short_read = 100
    world.wait(1)
    world.poll(full=True)
    snapshot = world.report(JOB).job.snapshot
    assert snapshot
    assert snapshot.as_of > plan.as_of
    assert verdict(world, JOB).level == "exact"
    world.wait(61)
    assert f"jobs/{JOB}/tasks" in requests_of(world, world.poll)


def test_counts_are_as_of_no_earlier_after_a_full_read_that_rounds_went_on_beside(world: World) -> None:
    """Rounds without changes don't write the job's row, so the full read meets no conflict."""
    job = left_to_the_queue(world)
    world.deliver_all()
    polled_for_a_while(world)
    first = world.report(JOB).job.snapshot
    world.wait(86_400 * 1.2)
    world.poll()
    while world.messages:
        polled_for_a_while(world)
        before = world.report(JOB).job.snapshot
        world.deliver(budget=2, takes=1)
        after = world.report(JOB).job.snapshot
        assert before
        assert after
        assert after.as_of >= before.as_of
        if after.generation != before.generation:
            assert after.moved_at >= before.looked_at
    last = world.report(JOB).job.snapshot
    assert first
    assert last
    assert last.generation != first.generation
    assert_right(world, job)


def test_throttling_keeps_received_tasks_and_the_account_is_left_alone(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    lists.throttled_after = 7
    world.deliver()
    plan = mapping_of(world)
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


def test_a_list_that_goes_in_a_circle_is_reported_and_begun_anew(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    begun(world)
    lists.circling = True
    world.deliver(budget=600, takes=1)
    assert len(lists.whole) < 50
    assert "sent a next link twice" in verdict(world, JOB).reason
    lists.circling = False
    for _ in range(5):
        world.wait(61)
        world.poll(check=False)
        world.deliver_all()
    assert_right(world, job)
    assert sorted(world.cached(JOB)) == NAMES


def test_the_account_is_left_alone_from_when_it_asked_for_that(world: World, lists: Lists) -> None:
    left_to_the_queue(world)
    lists.throttled_after = 20
    world.deliver(takes=60)
    assert last_round(world).wait(world.now()) == 90 * SECOND


def test_a_long_read_waits_for_its_half_of_the_calls_and_leaves_the_others_to_rounds(world: World) -> None:
    job = left_to_the_queue(world)
    world.create(OTHER, "a", "b")
    world.service.calls_per_minute = 20  # its lists have some thirty pages
    world.processes = [world.started(), world.started()]
    process, (message,) = world.processes[0], world.messages
    process.batch.latency = 0.1
    polled = []

    async def beside() -> None:
        work = asyncio.create_task(process.queued.run(JOB, message.until, budget=timedelta(days=1)))
        while not work.done():
            await asyncio.sleep(60)
            await process.poll()
            ended = process.rounds.ended
            polled.append(ended is not None and not ended.reason and not ended.failures)
        assert not await work

    world.run(beside())
    assert polled == [True] * len(polled)
    assert len(polled) > 2
    assert last_round(world).backoff_until is None
    world.messages.clear()
    world.service.calls_per_minute = 1000
    world.processes = [world.started(), world.started()]
    assert_right(world, job)


def test_a_long_read_that_waits_for_calls_when_its_time_is_up_leaves_the_rest_to_its_next_message(
    world: World, lists: Lists
) -> None:
    job = left_to_the_queue(world)
    world.service.calls_per_minute = 16
    world.processes = [world.started(), world.started()]
    before = world.now()
    world.deliver(budget=30, takes=0.1)
    assert world.now() - before <= 31 * SECOND
    assert verdict(world, JOB).level == "catchingUp"
    plan = mapping_of(world)
    assert plan
    assert plan.tasks >= 15
    asked = len(lists.whole)
    for _ in range(20):
        world.deliver(budget=30, takes=0.1)
    assert not world.messages
    again = {name for names in lists.whole[asked:] for name in names}
    assert {name for name in again if not is_left(plan, name)} == set()
    world.service.calls_per_minute = 1000
    world.processes = [world.started(), world.started()]
    assert_right(world, job)


def test_pages_under_way_when_no_call_is_left_for_another_are_not_asked_for_again(world: World, lists: Lists) -> None:
    job = left_to_the_queue(world)
    lists.whole.clear()
    world.service.calls_per_minute = 14
    world.processes = [world.started(), world.started()]
    while world.messages:
        world.deliver(budget=17, takes=5)
        world.wait(61)
    assert world.processes[0].batch.requests.count(f"jobs/{JOB}/tasks") == len(lists.whole) + len(lists.changes)
    world.service.calls_per_minute = 1000
    world.processes = [world.started(), world.started()]
    assert_right(world, job)


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


def test_the_verdict_shows_how_far_a_first_read_is(world: World) -> None:
    left_to_the_queue(world)
    plan = begun(world)
    judged = verdict(world, JOB)
    assert judged.level == "catchingUp"
    assert f"{plan.tasks} of about {len(NAMES)}" in judged.reason


def test_the_verdict_shows_that_a_first_read_reads_later_changes(world: World) -> None:
    job = left_to_the_queue(world)
    begun(world)
    world.wait(61)
    for name in NAMES:
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    plan = mapping_of(world)
    while plan and plan.since is None:
        world.deliver(budget=2, takes=1)
        plan = mapping_of(world)
    assert plan, "all of it was read at once"
    judged = verdict(world, JOB)
    assert judged.level == "catchingUp"
    assert f"of those that changed meanwhile {plan.tasks} are read" in judged.reason
