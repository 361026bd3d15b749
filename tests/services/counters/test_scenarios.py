"""Counters through single events that a simpler way of counting gets wrong."""

from datetime import timedelta
from typing import Any

import pytest

from shared.domain.tasks.task_counters import TaskCounters
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, RUNNING, Task
from tests.services.counters.pool_rows import delete_pool, list_pool
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import Change, TrueJob, milliseconds
from tests.services.worlds.spoiling import spoil
from tests.services.worlds.world import SECOND, World

MONTH = 31 * 86_400
OVERLAP_AND_MORE = 90


def move(world: World, job: TrueJob, name: str, late: int = 0, **fields: Any) -> None:
    """Changes a task now, and shows it `late` seconds later."""
    now = world.now()
    row = job.tasks[name].changes[-1].row._replace(transition=milliseconds(now), **fields)
    job.tasks[name].changes.append(Change(now, now, now + timedelta(seconds=late), row))


def start(world: World, job: TrueJob, name: str) -> None:
    move(world, job, name, state=RUNNING, start=milliseconds(world.now()))


def end(world: World, job: TrueJob, name: str, late: int = 0) -> None:
    move(world, job, name, late, state=COMPLETED, result=1, end=milliseconds(world.now()))


def preempt(world: World, job: TrueJob, name: str) -> None:
    move(world, job, name, state=ACTIVE, start=0)


def polled(world: World, rounds: int = 3) -> TaskCounters:
    """Returns the counters after some rounds, of both hosts in turn."""
    for number in range(rounds):
        world.wait(61)
        world.poll(number % 2, check=False)
    return counters(world)


def counters(world: World) -> TaskCounters:
    return world.run(world.started().queries.account("demo")).tasks.all.counters


def of_pool(world: World, key: str) -> TaskCounters:
    return world.run(world.started().queries.account("demo")).tasks.of_pool(key).counters


def test_a_new_generation_adds_what_polls_missed_and_keeps_deleted_tasks(world: World) -> None:
    job = world.create("Render", *"abcdef")
    for name in "abcdef":
        start(world, job, name)
    polled(world)
    end(world, job, "a")
    polled(world)
    job.delete_task("a", world.now())
    job.delete_task("b", world.now())
    job.drifts = True
    end(world, job, "c", late=OVERLAP_AND_MORE)
    generation = world.report("Render").job.snapshot
    assert polled(world, 6) == TaskCounters(started=6, completed=2)
    after = world.report("Render").job.snapshot
    assert generation
    assert after
    assert after.generation != generation.generation


def test_a_task_that_waits_after_its_node_went_starts_once_even_over_a_new_generation(world: World) -> None:
    job = world.create("Render", *"abcdef")
    start(world, job, "a")
    polled(world)
    preempt(world, job, "a")
    polled(world)
    job.delete_task("f", world.now())
    assert polled(world, 6).started == 1
    start(world, job, "a")
    assert polled(world).started == 1
    start(world, job, "b")
    assert polled(world).started == 2


def test_a_reactivated_task_and_one_created_again_count_once_more(world: World) -> None:
    job = world.create("Render", *"ab")
    for name in "ab":
        start(world, job, name)
        end(world, job, name)
    assert polled(world) == TaskCounters(2, 2)
    preempt(world, job, "a")
    polled(world)
    start(world, job, "a")
    end(world, job, "a")
    assert polled(world) == TaskCounters(3, 3)
    job.delete_task("b", world.now())
    polled(world, 6)
    row = Task("b", ACTIVE, transition=milliseconds(world.now()), creation=milliseconds(world.now()))
    job.tasks["b"].deleted = None
    job.tasks["b"].changes.append(Change(world.now(), world.now(), world.now(), row))
    start(world, job, "b")
    assert polled(world, 6) == TaskCounters(4, 3)


def test_another_job_of_the_id_counts_on_while_the_row_of_the_first_is_there(world: World) -> None:
    job = world.create("Render", *"abc")
    for name in "abc":
        start(world, job, name)
        end(world, job, name)
    polled(world)
    job.deleted = world.now()
    again = world.create("Render", *"ab")
    start(world, again, "a")
    assert polled(world) == TaskCounters(4, 3)
    again.delete_task("b", world.now())
    end(world, again, "a")
    assert polled(world, 6) == TaskCounters(4, 4)


@pytest.mark.parametrize("call", range(1, 12))
def test_counters_of_a_deleted_job_stay_though_housekeeping_dies_at_any_call(world: World, call: int) -> None:
    job = world.create("Render", *"abc")
    for name in "abc":
        start(world, job, name)
        end(world, job, name)
    before = polled(world)
    job.deleted = world.now()
    assert polled(world) == before
    world.wait(MONTH)
    world.clean_up(fault=Fault(call=call, committed=True, kills=True))
    assert counters(world) == before
    world.clean_up()
    assert counters(world) == before == TaskCounters(3, 3)
    assert world.reports() == {}
    world.wait(2 * 3600)
    world.clean_up()
    assert counters(world) == before
    again = world.create("Render", "a")
    start(world, again, "a")
    assert polled(world) == TaskCounters(4, 3)


def test_counters_of_a_pool_stay_while_it_is_deleted_and_go_on_when_it_is_created_again(world: World) -> None:
    list_pool(world, "Nightly")
    old, kept = world.create("Old", *"abc"), world.create("Kept", "a")
    for job in (old, kept):
        job.pool_id = "Nightly"
        for name in job.tasks:
            start(world, job, name)
            end(world, job, name)
    polled(world)
    old.deleted = world.now()
    polled(world)
    world.wait(MONTH)
    world.clean_up()
    assert of_pool(world, "nightly") == TaskCounters(4, 4)
    delete_pool(world, "Nightly")
    for _ in range(2):
        world.clean_up()
        assert of_pool(world, "nightly") == TaskCounters(4, 4)
        world.wait(3600)
    list_pool(world, "Nightly")
    world.clean_up()
    again = world.create("Old", "a")
    again.pool_id = "Nightly"
    start(world, again, "a")
    assert polled(world) == of_pool(world, "nightly") == TaskCounters(5, 4)


@pytest.mark.parametrize("columns", [{"source": "unheard-of"}, {"schema": 99}], ids=["damaged", "newer"])
def test_counters_in_a_row_that_cannot_be_read_count_until_it_is_replaced_and_go_on(
    world: World, columns: dict[str, Any]
) -> None:
    job, _ = world.create("Render", *"abcd"), world.create("Other", "a")
    for name in "abc":
        start(world, job, name)
        end(world, job, name)
    polled(world)
    job.delete_task("a", world.now())
    assert polled(world, 6) == TaskCounters(3, 3)
    spoil(world, "jobs", "demo", "render", **columns)
    assert counters(world) == TaskCounters(3, 3)
    assert not world.reports().keys() & {"Render"}
    start(world, job, "d")
    job.delete_task("b", world.now())
    world.clean_up()
    assert counters(world) == TaskCounters(3, 3)
    assert polled(world) == TaskCounters(4, 3)
    spoil(world, "jobs", "demo", "render", **columns)
    job.deleted = world.now()
    assert polled(world) == TaskCounters(4, 3)
    world.wait(MONTH)
    world.clean_up()
    assert counters(world) == TaskCounters(4, 3)


def test_another_job_of_the_id_counts_on_though_the_row_of_the_first_cannot_be_read(world: World) -> None:
    job = world.create("Render", *"abc")
    for name in "abc":
        start(world, job, name)
        end(world, job, name)
    polled(world)
    spoil(world, "jobs", "demo", "render", source="unheard-of")
    job.deleted = world.now()
    again = world.create("Render", *"ab")
    start(world, again, "a")
    assert polled(world) == TaskCounters(4, 3)


def test_tasks_that_come_while_the_row_of_a_job_without_any_cannot_be_read_are_counted(world: World) -> None:
    job = world.create("Render")
    polled(world)
    spoil(world, "jobs", "demo", "render", source="unheard-of")
    job.add("a", world.now())
    start(world, job, "a")
    assert polled(world) == TaskCounters(1)


def test_a_long_read_after_a_row_could_not_be_read_compares_with_the_generation_before(world: World) -> None:
    job = world.create("Render", *(f"task-{number}" for number in range(12)))
    for name in job.tasks:
        start(world, job, name)
    assert polled(world) == TaskCounters(12)
    world.service.short_read, world.service.page_size = 3, 2
    world.processes = [world.started(), world.started()]
    for _ in range(2):
        spoil(world, "jobs", "demo", "render", source="unheard-of")
        assert polled(world, 1) == TaskCounters(12)
    world.wait(2 * 3600)
    world.clean_up()
    world.deliver_all()
    assert counters(world) == TaskCounters(12)
    assert polled(world) == TaskCounters(12)


def test_a_poll_that_dies_after_it_wrote_tasks_counts_them_once(world: World) -> None:
    job = world.create("Render", *"abcdef")
    polled(world)
    for name in "abcd":
        start(world, job, name)
    for call in range(1, 12):
        world.wait(61)
        world.poll(0, fault=Fault(call=call, committed=True, kills=True), check=False)
        assert counters(world).started <= 4
    assert polled(world) == TaskCounters(started=4)
    assert world.now() - job.created > 60 * SECOND
