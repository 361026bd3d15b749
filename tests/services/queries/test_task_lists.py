"""Lists of cached tasks while polls rewrite and split leaves of four tasks, and while generations change."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import pytest

from shared.domain.core.keys import key_of
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_lists import TaskList
from shared.domain.leaves.task_order import TaskOrder
from shared.domain.tasks.failures import failure_group_id
from shared.domain.tasks.tasks import Task
from shared.errors import CacheConflictError
from tests.services.fakes.truth import COMPLETED
from tests.services.worlds.process import Process
from tests.services.worlds.telling import polled_for_a_while
from tests.services.worlds.world import World

NAMES = [f"task-{number:02}" for number in range(0, 60, 2)]
ORDERS = [
    TaskOrder(),
    TaskOrder(descending=True),
    TaskOrder("creationTime"),
    TaskOrder("creationTime", descending=True),
]


def staged(world: World) -> Process:
    world.create("Render", *NAMES)
    polled_for_a_while(world)
    return world.started()


async def listed(
    process: Process, task_list: TaskList, meanwhile: Callable[[], Awaitable[Any]] | None = None
) -> list[str]:
    """Returns the ids of a list; `meanwhile` runs after every batch."""
    names: list[str] = []
    async with aclosing(process.task_queries.tasks("demo", "Render", task_list)) as batches:
        async for batch in batches:
            names += [task.id for task in batch]
            if meanwhile:
                await meanwhile()
    return names


async def paged(process: Process, order: TaskOrder, size: int, meanwhile: Callable[[], Awaitable[Any]]) -> list[str]:
    """Returns the ids of all pages; each page continues after the last task of the previous one."""
    names: list[str] = []
    after = None
    while True:
        found: list[Task] = []
        async with aclosing(
            process.task_queries.tasks("demo", "Render", TaskList(size, order=order, after=after))
        ) as got:
            async for batch in got:
                found += batch
        assert len(found) <= size
        if not found:
            return names
        names += [task.id for task in found]
        after = order.position(found[-1])
        await meanwhile()


async def nothing() -> None:
    pass


@pytest.mark.parametrize("size", [1, 3, 4, 7, 29, 30, 31])
@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_pages_of_any_size_list_every_task_once(world: World, order: TaskOrder, size: int) -> None:
    found = world.run(paged(staged(world), order, size, nothing))
    assert found == (NAMES[::-1] if order.is_by_id and order.descending else NAMES)


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("size", [5, 100])
def test_tasks_that_stay_are_listed_once_though_leaves_split_meanwhile(
    world: World, order: TaskOrder, size: int
) -> None:
    reader, writer, job = staged(world), world.processes[0], world.truth.jobs["Render"][-1]
    fresh = [f"task-{number:02}" for number in range(1, 60, 2)]

    async def more() -> None:
        for name in fresh[:5]:
            job.add(name, world.now())
        del fresh[:5]
        await asyncio.sleep(61)
        await writer.poll()

    async def read() -> list[str]:
        return await paged(reader, order, size, more) if size < len(NAMES) else await listed(reader, everything, more)

    everything = TaskList(1000, order=order)
    found = [name for name in world.run(read()) if name in NAMES]
    assert sorted(found) == NAMES
    assert order.by != "id" or found == (NAMES[::-1] if order.descending else NAMES)


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_a_list_goes_on_in_another_generation_where_it_was(world: World, order: TaskOrder) -> None:
    staged(world)
    process = world.processes[0]
    done: list[bool] = []

    async def anew() -> None:
        if done:
            return
        done.append(True)
        job = await process.jobs.load("demo", "Render")
        assert job
        assert job.snapshot
        fresh = await process.task_poll.generations.read_anew(job, world.now())
        assert fresh.snapshot
        await process.cache.delete_generation(f"demo~render~{job.snapshot.generation}")

    found = world.run(paged(process, order, 7, anew))
    assert done
    assert found == (NAMES[::-1] if order.is_by_id and order.descending else NAMES)


def test_leaves_that_can_hold_nothing_wanted_are_not_read(world: World) -> None:
    reader = staged(world)

    def calls(task_list: TaskList) -> int:
        reader.connection.calls = 0
        world.run(listed(reader, task_list))
        return reader.connection.calls

    least = calls(TaskList(100, TaskFilter(states=frozenset({2}))))
    assert calls(TaskList(1)) == least + 1
    assert calls(TaskList(100, TaskFilter(results=frozenset({2})))) == least
    assert calls(TaskList(100, TaskFilter(prefix="task-30"))) in {least + 1, least + 2}
    assert calls(TaskList(100, TaskFilter(prefix="u"))) <= least + 1
    after = (False, 0, key_of(NAMES[-1]))
    assert calls(TaskList(100, after=after)) == least + 1
    assert calls(TaskList(100)) > least + len(NAMES) // 4


def test_leaves_where_tasks_failed_for_other_causes_are_not_read(world: World) -> None:
    job = world.create("Render", *NAMES)
    for place, name in enumerate(NAMES):
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=7 if place == 20 else 1)
    polled_for_a_while(world)
    reader = world.started()
    failed = world.run(reader.task_queries.task("demo", "Render", NAMES[20]))
    assert failed
    group = failure_group_id(failed.failure, 7)

    def calls(wanted: TaskFilter, found: int) -> int:
        reader.connection.calls = 0
        assert len(world.run(listed(reader, TaskList(100, wanted)))) == found
        return reader.connection.calls

    least = calls(TaskFilter(states=frozenset({2})), 0)
    assert calls(TaskFilter(failure_groups=frozenset({group})), 1) == least + 1
    assert calls(TaskFilter(results=frozenset({2}), exit_codes=frozenset({7})), 1) == least + 1
    assert calls(TaskFilter(failure_groups=frozenset({"0"})), 0) == least
    assert calls(TaskFilter(exit_codes=frozenset({7})), 1) > least + len(NAMES) // 4 - 1


def test_leaves_are_read_ahead_a_few_at_a_time_and_no_further_once_a_page_is_full(world: World) -> None:
    world.create("Render", *(f"task-{number:03}" for number in range(120)))
    polled_for_a_while(world)
    reader = world.started()
    load, begun, under_way, most, cut_short = reader.cache.load_leaf, [0], [0], [0], [0]

    async def counted(partition: str, entry: Any) -> Any:
        begun[0] += 1
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        try:
            await asyncio.sleep(begun[0])  # each longer than the previous one
            return await load(partition, entry)
        except asyncio.CancelledError:
            cut_short[0] += 1
            raise
        finally:
            under_way[0] -= 1

    reader.cache.load_leaf = counted  # type: ignore[method-assign]
    assert len(world.run(listed(reader, TaskList(1000)))) == 120
    assert most[0] == 8
    assert cut_short[0] == 0
    assert len(world.run(listed(reader, TaskList(20)))) == 20
    assert 0 < cut_short[0] < 8
    assert under_way[0] == 0


def test_a_list_gives_up_where_polls_are_always_faster(world: World) -> None:
    reader = staged(world)
    tries: list[str] = []

    async def overtaken(partition: str, entry: Any) -> Any:
        tries.append(entry.row)
        raise CacheConflictError("Another poll was first.")

    reader.cache.load_leaf = overtaken  # type: ignore[method-assign]
    with pytest.raises(CacheConflictError, match="change too fast"):
        world.run(listed(reader, TaskList(10)))
    assert len(tries) == 5


def test_one_task_is_found_by_its_key(world: World) -> None:
    reader = staged(world)
    found = world.run(reader.task_queries.task("demo", "Render", "task-30"))
    assert found
    assert found.id == "task-30"
    assert world.run(reader.task_queries.task("demo", "Render", "task-3")) is None
    assert world.run(reader.task_queries.task("demo", "Render", "task-31")) is None


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_a_job_without_tasks_has_an_empty_list(world: World, order: TaskOrder) -> None:
    world.create("Render")
    polled_for_a_while(world)
    assert world.run(paged(world.started(), order, 10, nothing)) == []


def test_tasks_are_found_by_name_in_the_leaves_that_can_hold_them_and_no_others(world: World) -> None:
    process = staged(world)
    read: list[str] = []
    load = process.cache.load_leaf

    async def loaded(partition: str, entry: Any) -> Any:
        read.append(entry.row)
        return await load(partition, entry)

    process.cache.load_leaf = loaded  # type: ignore[method-assign]
    wanted = {key_of(name) for name in ("TASK-00", "task-01", "task-02", "task-58", "zzz", "a")}
    found = world.run(process.task_queries.named("demo", "Render", wanted))
    assert {key: task.id for key, task in found.items()} == {name: name for name in ("task-00", "task-02", "task-58")}
    assert len(read) == 2
    assert len(set(read)) == 2
    assert world.run(process.task_queries.named("demo", "Render", set())) == {}
    assert len(world.run(process.task_queries.named("demo", "Render", set(NAMES)))) == len(NAMES)
