"""The job statistics are true after every poll, even after failed or overtaken polls: `World.check`."""

import random
from datetime import timedelta

import pytest

from shared.domain.reports.reports import FailuresReport
from shared.domain.tasks.job_statistics import JobStatistics
from shared.errors import CacheConflictError
from tests.domain.support.summary_oracle import insight_of_rows
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import ACTIVE, COMPLETED, RUNNING, TrueJob
from tests.services.worlds.world import World

NAMES = [f"Task-{number:02}" for number in range(13)]


def move(world: World, job: TrueJob, dice: random.Random) -> None:
    """Starts, ends or fails some tasks, some of them again: a repeated completion changes no count."""
    for name in dice.sample(NAMES, 4):
        state = dice.choice([ACTIVE, RUNNING, COMPLETED, COMPLETED, COMPLETED])
        job.change(name, state, at=world.now(), lag=timedelta(), skew=timedelta(), code=dice.choice([0, 1, 137]))


def insight_of(world: World, name: str) -> JobStatistics | None:
    snapshot = world.report(name).job.snapshot
    return snapshot.statistics.unpack() if snapshot and snapshot.statistics else None


def test_insight_agrees_with_tasks_after_a_death_at_any_call(world: World) -> None:
    dice, job = random.Random(3), world.create("Render", *NAMES)  # noqa: S311
    seen = set()
    assert world.poll()
    for call in range(1, 14):
        for committed, kills in ((False, True), (True, True), (True, False)):
            world.wait(61)
            move(world, job, dice)
            world.wait(1)
            world.poll(0, fault=Fault(call=call, committed=committed, kills=kills))
            world.wait(31)
            assert world.poll(1)
            seen.add(insight_of(world, "Render"))
    assert len(seen) > 30


def test_insight_is_that_into_the_tasks_after_two_polls_at_once(world: World) -> None:
    dice, job = random.Random(4), world.create("Render", *NAMES)  # noqa: S311
    assert world.poll()
    for number in range(24):
        world.wait(61)
        move(world, job, dice)
        world.wait(1)
        world.poll_both((number % 3, number % 2), delay=dice.choice([0, 1, 2]), storage_takes=(number % 4 / 4,) * 2)
        move(world, job, dice)
        world.wait(40)
        assert world.poll(number % 2)


def test_a_job_that_stands_still_costs_no_write_for_its_insight(world: World) -> None:
    job = world.create("Render", *NAMES)
    for name in NAMES:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=1)
    world.wait(120)
    assert world.poll()
    etag = world.report("Render").job.etag
    for _ in range(6):
        world.wait(61)
        assert world.poll()
    assert world.report("Render").job.etag == etag
    assert insight_of(world, "Render") == insight_of_rows(list(world.cached("Render").values()))


def test_there_is_no_insight_into_leaves_that_an_older_version_wrote_until_all_are_written_anew(world: World) -> None:
    job = world.create("Render", *NAMES)
    world.wait(61)
    assert world.poll()
    forget_summaries(world)
    world.processes = [world.started(), world.started()]
    etag = world.report("Render").job.etag
    for _ in range(3):
        world.wait(61)
        assert world.poll(check=False, full=True)
    assert world.report("Render").job.etag == etag
    assert insight_of(world, "Render") is None
    assert world.failures("Render") is None
    for name in NAMES:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=1)
        world.wait(61)
        assert world.poll(check=name == NAMES[-1])
    assert insight_of(world, "Render") == insight_of_rows(list(world.cached("Render").values()))


def test_failures_have_no_causes_where_unknown_and_are_empty_before_the_first_read(
    world: World,
) -> None:
    job = world.create("Render", *NAMES)
    for name in NAMES[:5]:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=137)
    world.wait(61)
    world.poll(fault=Fault(call=4, committed=True, kills=True))
    assert world.run(world.started().queries.failures("demo", "Render")) == FailuresReport()
    world.wait(61)
    assert world.poll()
    answer = world.run(world.started().queries.failures("demo", "Render"))
    assert (answer.failed, answer.as_of) == (5, world.report("Render").verdict.as_of)
    assert answer.failures
    assert [group.count for group in answer.failures.groups] == [5]
    forget_summaries(world)
    answer = world.run(world.started().queries.failures("demo", "Render"))
    assert (answer.failed, answer.failures) == (5, None)


def test_failures_are_those_of_the_served_generation_wherever_a_full_read_stops(world: World) -> None:
    job = world.create("Render", *NAMES)
    for name in NAMES[:6]:
        job.change(name, COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=137)
    for _ in range(3):
        world.wait(61)
        world.poll()
    job.delete_task(NAMES[0], world.now())
    stops = set[bool]()
    for call in range(60):
        world.wait(61)
        world.poll(check=False, fault=Fault(call=call % 12, committed=bool(call % 2), kills=True))
        served = world.report("Render").job
        assert served.snapshot
        stops.add(served.building is not None)
        answer = world.run(world.started().queries.failures("demo", "Render"))
        assert answer.failed in {5, 6}
        assert answer.failures == world.failures("Render")
        assert answer.failures
        assert [group.count for group in answer.failures.groups] == [answer.failed]
    assert stops == {True, False}


def test_a_head_that_is_gone_is_looked_for_again_but_not_for_ever(world: World) -> None:
    job = world.create("Render", *NAMES)
    job.change(NAMES[0], COMPLETED, at=world.now(), lag=timedelta(), skew=timedelta(), code=137)
    world.wait(61)
    assert world.poll()
    snapshot = world.report("Render").job.snapshot
    assert snapshot
    world.storage.rows["tasks"].pop((f"demo~render~{snapshot.generation}", "!"))
    with pytest.raises(CacheConflictError, match="try again"):
        world.run(world.started().queries.failures("demo", "Render"))


def forget_summaries(world: World) -> None:
    """Removes all summaries, as in rows of a version without them."""
    for table in ("jobs", "tasks"):
        for row, _ in world.storage.rows[table].values():
            for name in ("summary", "failures0", "insight"):
                row.pop(name, None)
