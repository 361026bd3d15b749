from collections.abc import AsyncIterator

import pytest

from shared.domain.tasks.tasks import Task
from shared.services.reading import read_state
from shared.services.reading.read_state import read_pages
from shared.stores.batch.batch import TaskPage
from tests.services.worlds.world import World


async def short_pages() -> AsyncIterator[TaskPage]:
    """Yields pages of three tasks each, without an end."""
    for start in range(0, 1000, 3):
        names = (f"task-{number:03}" for number in range(start, start + 3))
        yield TaskPage([Task(name, 0, transition=1, creation=1) for name in names], None, "next")


@pytest.mark.parametrize("most", [7, 10, 20])
def test_a_list_that_is_left_to_the_queue_leaves_nothing_behind_that_was_received(
    world: World, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(read_state, "_PASS", 7)
    cache = world.processes[0].cache

    async def read() -> read_state.ReadState:
        return await read_pages(cache, short_pages(), await cache.load_directory("demo~render~1"), most=most)

    left = world.run(read())
    assert left.next_link
    assert left.received >= most
    assert left.rest == []
    assert left.directory.counts.total == left.received
