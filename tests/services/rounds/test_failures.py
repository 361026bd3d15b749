import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any, override

import pytest

from shared.errors import BatchAnswerError, BatchThrottledError, BatchUnreachableError
from shared.stores.batch.batch import TaskPage
from tests.services.fakes.fake_batch import FakeBatch
from tests.services.fakes.truth import COMPLETED, RUNNING
from tests.services.worlds.process import Recipe
from tests.services.worlds.telling import last_round, polled_for_a_while, requests_of, verdict
from tests.services.worlds.world import SECOND, World

NOW = timedelta()
ENDPOINT = "http://127.0.0.1:1"


@pytest.mark.parametrize("request_", ["jobs/Render/tasks", "jobs/Render/counts"])
def test_one_failing_job_spoils_nothing_else(world: World, request_: str) -> None:
    jobs = {name: world.create(name, "a", "b") for name in ("Render", "Encode", "Upload")}
    polled_for_a_while(world)
    for job in jobs.values():
        job.change("a", RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.service.refusals[request_] = BatchAnswerError("a 500 of one job")
    world.wait(61)
    world.poll()
    assert verdict(world, "Render").level == "stale"
    assert "a 500 of one job" in verdict(world, "Render").reason
    assert verdict(world, "Encode").level == verdict(world, "Upload").level == "exact"
    assert (last_round(world).jobs_polled, last_round(world).jobs_failed) == (3, 1)
    world.service.refusals.clear()
    world.wait(61)
    world.poll()
    assert verdict(world, "Render").level == "exact"


def test_a_job_that_the_program_stumbles_over_spoils_nothing_else(world: World) -> None:
    odd = world.create("Render", "a")
    world.create("Encode", "a")
    polled_for_a_while(world)
    odd.change("a", COMPLETED, at=world.now(), lag=NOW, skew=NOW)
    odd.tasks["a"].changes[-1] = replace(
        odd.tasks["a"].changes[-1], row=odd.tasks["a"].changes[-1].row._replace(exit_code=1 << 70)
    )
    world.wait(61)
    world.poll()
    assert verdict(world, "Render").level == "stale"
    assert verdict(world, "Encode").level == "exact"


def test_a_job_that_cannot_be_looked_up_does_not_stop_the_round(world: World) -> None:
    world.create("Render", "a")
    world.create("Encode", "a")
    polled_for_a_while(world)
    world.service.hidden.add("Render")
    world.service.refusals["jobs/Render"] = BatchAnswerError("500")
    world.wait(61)
    world.poll(full=True)
    assert last_round(world).reason is None
    assert verdict(world, "Encode").as_of == world.now()


def test_throttling_ends_the_round_and_the_account_is_left_alone_for_as_long_as_it_asks(world: World) -> None:
    for number in range(12):
        world.create(f"job-{number:02}", "a")
    polled_for_a_while(world)
    world.service.refusals["jobs/job-03/*"] = BatchThrottledError(ENDPOINT, 300 * SECOND, status=429)
    world.wait(61)
    process = world.processes[0]
    calls = requests_of(world, lambda: world.run(process.polling.tick()))
    assert len(calls) < 2 * 12
    assert last_round(world).backoff_until == world.now() + 300 * SECOND
    assert "throttling" in (last_round(world).reason or "")
    assert "throttling" in verdict(world, "job-11").reason
    world.wait(299)
    assert requests_of(world, lambda: world.run(process.polling.tick())) == []
    world.service.refusals.clear()
    world.wait(1)
    world.run(process.polling.tick())
    assert last_round(world).reason is None
    assert verdict(world, "job-11").level == "exact"


def test_a_job_list_that_fails_leaves_every_count_as_it_was_and_says_why(world: World) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    before = verdict(world, "Render")
    world.service.refusals["jobs"] = BatchUnreachableError(ENDPOINT, "closed")
    world.wait(61)
    world.poll()
    after = verdict(world, "Render")
    assert (after.as_of, after.level) == (before.as_of, "stale")
    assert "closed" in after.reason


def test_without_a_date_counts_move_on_but_their_time_does_not(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    before = world.report("Render").job.snapshot
    job.change("a", RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.service.sends_date = False
    world.wait(40)
    world.poll()
    assert world.cached("Render")["a"].state == RUNNING
    assert before
    assert verdict(world, "Render").as_of == before.as_of
    world.service.sends_date = True
    world.wait(40)
    world.poll()
    assert verdict(world, "Render").as_of == world.now()


def test_without_a_date_nothing_is_read_for_the_first_time(world: World) -> None:
    world.create("Render", "a")
    world.service.sends_date = False
    world.wait(1)
    world.poll()
    assert verdict(world, "Render").level == "stale"
    assert "Date" in verdict(world, "Render").reason


class HangingBatch(FakeBatch):
    """Never answers the task lists of some jobs."""

    @override
    async def fetch_task_page(self, job_id: str, *details: Any, **more: Any) -> TaskPage:
        if job_id.startswith("bad"):
            await asyncio.sleep(30)
            raise BatchUnreachableError(ENDPOINT, "no whole answer within 30 s")
        return await super().fetch_task_page(job_id, *details, **more)


def test_jobs_whose_lists_hang_do_not_take_every_turn() -> None:
    world = World(Recipe(batch=HangingBatch))
    for number in range(16):
        world.create(f"bad-{number:02}", "a")
    world.create("good", "a")
    for _ in range(3):
        world.wait(61)
        world.run(world.processes[0].rounds.run_if_due(timedelta(), budget=45 * SECOND))
    assert verdict(world, "good").level == "exact"
    assert verdict(world, "bad-15").level == "stale"
    world.close()
