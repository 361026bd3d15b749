"""A job too long for a round: the requests for its lists, the progress of its read, and its correct end."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import override

import pytest

from shared.domain.reads import id_ranges
from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import BatchThrottledError
from shared.services.reading import range_lists
from shared.stores.batch.batch import TaskPage
from shared.stores.batch.batch_addresses import StateFilter
from shared.stores.jobs.jobs import generation_partition
from tests.services.fakes.fake_batch import FakeBatch
from tests.services.fakes.truth import TrueJob
from tests.services.worlds.process import Recipe
from tests.services.worlds.world import SECOND, World

NOW = timedelta()
NAMES = [f"task-{number:03}" for number in range(40)]
JOB = "Render"
_CIRCLE = "\t"  # at the end of a link


@dataclass(slots=True)
class Lists:
    """The requests of all processes for lists of all tasks and of changes: each page's ids, and those behind it.

    The page after `throttled_after` more is refused once; a list of all tasks begins with `empty` pages. With
    `first_backwards` its first page is unsorted. While `circling`, each page leads to a link that leads to itself for
    ever.
    """

    whole: list[set[str]] = field(default_factory=list)
    changes: list[tuple[datetime, bool, set[str]]] = field(default_factory=list)  # since, whether it went on, ids
    throttled_after: int | None = None
    empty: int = 0
    first_backwards: bool = False
    circling: bool = False
    empty_sent: dict[tuple[str | None, str | None], int] = field(default_factory=dict)

    def changed(self, ids: IdRange, page: TaskPage) -> TaskPage:
        """Returns the page of this service, or a preceding one without its tasks."""
        bounds = ids.low, ids.high
        if self.circling or (ids.cursor or "").endswith(_CIRCLE):
            return replace(page, next_link=json.dumps([*bounds, "", None, None]) + _CIRCLE)
        if ids.cursor is None:
            page = replace(page, tasks=page.tasks[::-1]) if self.first_backwards else page
            self.empty_sent[bounds] = 0
        if self.empty_sent.get(bounds, self.empty) >= self.empty:
            return page
        self.empty_sent[bounds] += 1
        link = json.dumps([*bounds, "", None, None]) + " " * self.empty_sent[bounds]  # all links differ
        return replace(page, tasks=[], next_link=link)

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
    """Yields a world with pages of three tasks; a round may read ten, and tasks are stored after six more."""
    monkeypatch.setattr(range_lists, "_AT_ONCE", 4)
    monkeypatch.setattr(id_ranges, "_MIN_PART", 9)

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
    """Creates a job too long for a round, and runs the round that detects that."""
    job = world.create(JOB, *NAMES)
    world.wait(61)
    world.poll()
    assert [message.job for message in world.messages] == [JOB]
    return job


def begun(world: World, seconds: float = 6) -> ReadPlan:
    """Returns the plan of its read amid its ranges, with part of it stored."""
    world.deliver(budget=seconds, takes=1)
    plan = mapping_of(world)
    assert plan is not None
    assert plan.tasks
    assert plan.ranges
    return plan


def mapping_of(world: World) -> ReadPlan | None:
    process = world.started()
    job = world.run(process.jobs.load("demo", JOB))
    if job is None:
        return None
    generation = job.building or (job.snapshot.generation if job.snapshot else "")
    return world.run(process.plans.load(generation_partition("demo", job.key, generation)))


def is_left(plan: ReadPlan, name: str) -> bool:
    """Returns whether a task lies in the unlisted part of a plan, by the fake's links."""
    for ids in plan.ranges:
        low, high, after = json.loads(ids.cursor)[:3] if ids.cursor else (ids.low, ids.high, "")
        if (low is None or name >= low) and (high is None or name < high) and name > after:
            return True
    return False


def assert_right(world: World, job: TrueJob) -> None:
    """Asserts that the counts are true and exact after two rounds and their queued work."""
    for _ in range(2):
        world.wait(61)
        world.poll()
        world.deliver_all()
    world.wait(61)
    world.poll()
    report = world.report(JOB)
    assert report.job.snapshot
    assert report.job.snapshot.counts == job.counts(world.now())
    assert report.verdict.level == "exact"
    assert mapping_of(world) is None
