"""Changes that deltas miss are detected, reported and repaired: deleted tasks, and reports later than the overlap."""

import asyncio
from datetime import datetime, timedelta

import pytest

from shared.errors import BatchAnswerError
from shared.services.jobs import discovery
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import ACTIVE, COMPLETED, PREPARING, RUNNING, TrueJob
from tests.services.worlds.spoiling import spoil_leaves
from tests.services.worlds.telling import polled_for_a_while, requests_of, verdict
from tests.services.worlds.world import SECOND, World

NOW = timedelta()


def rounds(world: World, number: int = 1) -> None:
    for _ in range(number):
        world.wait(61)
        world.poll()


def completed_but_for(world: World, *live: str) -> None:
    """Creates a job of many completed tasks and a few live ones: a repair is cheaper than a full read."""
    job = world.create("Render", *"abcdefgh")
    for name in "abcdefgh":
        if name not in live:
            job.change(name, COMPLETED, at=world.now() + SECOND, lag=NOW, skew=NOW)
    polled_for_a_while(world)


def test_a_deleted_task_takes_the_word_exact_away_with_the_next_poll(world: World) -> None:
    world.create("Render", "a", "b").delete_task("a", world.now() + 200 * SECOND)
    polled_for_a_while(world)
    assert verdict(world, "Render").level == "exact"
    rounds(world)
    judged = verdict(world, "Render")
    assert judged.level == "unverified"
    assert "1 active (here 2)" in judged.reason


def test_a_lasting_difference_leads_to_a_full_read_that_drops_deleted_tasks(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    before = world.report("Render").job.snapshot
    job.delete_task("a", world.now())
    rounds(world, 2)
    report = world.report("Render")
    assert list(world.cached("Render")) == ["b"]
    assert (report.verdict.level, report.verdict.source) == ("exact", "fullRead")
    assert before
    assert [old.generation for old in report.job.retired] == [before.generation]


def test_a_report_later_than_the_overlap_is_made_good_by_a_repair(world: World) -> None:
    completed_but_for(world, "c")
    job = world.truth.jobs["Render"][-1]
    job.drifts = True
    job.change("c", RUNNING, at=world.now(), lag=200 * SECOND, skew=NOW)
    rounds(world, 5)
    assert verdict(world, "Render").level == "unverified"
    calls = requests_of(world, lambda: rounds(world))
    assert world.cached("Render")["c"].state == RUNNING
    assert (verdict(world, "Render").level, verdict(world, "Render").source) == ("exact", "repair")
    assert "jobs/Render/tasks/c" not in calls


def test_a_repair_that_meets_leaves_that_cannot_be_read_gives_way_to_a_full_read(world: World) -> None:
    completed_but_for(world, "c")
    world.wait(900)
    job = world.truth.jobs["Render"][-1]
    job.drifts = True
    job.change("c", RUNNING, at=world.now(), lag=200 * SECOND, skew=NOW)
    rounds(world, 5)
    assert verdict(world, "Render").level == "unverified"
    spoil_leaves(world)
    world.wait(61)
    world.run(world.processes[0].poll())
    assert (verdict(world, "Render").level, verdict(world, "Render").source) == ("exact", "fullRead")
    assert world.cached("Render")["c"].state == RUNNING


def test_a_task_that_completed_unseen_is_looked_up_by_id(world: World) -> None:
    completed_but_for(world, "c")
    job = world.truth.jobs["Render"][-1]
    job.drifts = True
    job.change("c", COMPLETED, at=world.now(), lag=200 * SECOND, skew=NOW, code=1)
    calls = requests_of(world, lambda: rounds(world, 6))
    assert "jobs/Render/tasks/c" in calls
    assert world.cached("Render")["c"].exit_code == 1
    assert (verdict(world, "Render").level, verdict(world, "Render").source) == ("exact", "repair")


def test_a_repair_that_finds_a_task_deleted_is_followed_by_a_full_read_at_once(world: World) -> None:
    completed_but_for(world, "c")
    world.truth.jobs["Render"][-1].delete_task("c", world.now())
    rounds(world, 2)
    assert "c" not in world.cached("Render")
    assert (verdict(world, "Render").level, verdict(world, "Render").source) == ("exact", "fullRead")


def test_lagging_task_counts_do_not_confirm_a_deleted_task(world: World) -> None:
    completed_but_for(world, "c", "d")
    job = world.truth.jobs["Render"][-1]
    job.drifts = True
    job.change("d", RUNNING, at=world.now(), lag=61 * SECOND, skew=NOW)
    rounds(world, 2)
    world.service.count_lag = 600 * SECOND
    world.service.refusals["jobs/Render/tasks"] = BatchAnswerError("no full read for now")
    job.delete_task("c", world.now())
    world.wait(61)
    world.poll(check=False)
    assert verdict(world, "Render").level != "exact"


def test_which_tasks_are_preparing_is_confirmed_though_the_service_counts_them_as_running(world: World) -> None:
    job = world.create("Render", *"abcd")
    job.change("a", PREPARING, at=world.now() + SECOND, lag=NOW, skew=NOW)
    polled_for_a_while(world)
    assert verdict(world, "Render").level == "exact"
    job.drifts = True
    job.change("a", RUNNING, at=world.now(), lag=90 * SECOND, skew=NOW)
    rounds(world, 2)
    assert verdict(world, "Render").level == "unverified"
    assert "still preparing" in verdict(world, "Render").reason
    rounds(world)
    assert verdict(world, "Render").level == "exact"
    assert world.cached("Render")["a"].state == RUNNING


def test_a_task_deleted_from_a_sealed_job_unseals_it(world: World) -> None:
    job = world.create("Render", "a", "b")
    job.complete(world.now() + SECOND, lag=NOW)
    polled_for_a_while(world)
    assert world.report("Render").job.finalized
    job.delete_task("a", world.now())
    world.wait(20 * 60)
    world.poll()
    report = world.report("Render")
    assert (report.verdict.level, report.job.finalized) == ("exact", True)
    assert list(world.cached("Render")) == ["b"]


def test_of_many_sealed_jobs_those_that_were_compared_longest_ago_come_first(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full list compares only some of them; several lists reveal a task deleted from any of them."""
    jobs = eight_sealed_jobs(world, monkeypatch)
    for job in jobs:
        job.delete_task("a", world.now())
    three_full_lists(world)
    assert {name: list(world.cached(name)) for name in world.reports()} == {job.id: ["b"] for job in jobs}


def test_of_many_sealed_jobs_those_that_agreed_again_make_room_for_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = eight_sealed_jobs(world, monkeypatch)[-1]
    last.delete_task("a", world.now())
    three_full_lists(world)
    assert list(world.cached(last.id)) == ["b"]


def eight_sealed_jobs(world: World, monkeypatch: pytest.MonkeyPatch) -> list[TrueJob]:
    """Creates eight finalized jobs; a full list compares three of them."""
    monkeypatch.setattr(discovery, "_RECHECKS", 3)
    jobs = [world.create(f"Render-{number}", "a", "b") for number in range(8)]
    for job in jobs:
        job.complete(world.now() + SECOND, lag=NOW)
        polled_for_a_while(world)
    return jobs


def three_full_lists(world: World) -> None:
    for _ in range(3):
        world.wait(20 * 60)
        world.poll()


def test_a_sealed_job_that_is_asked_for_by_name_is_polled(world: World) -> None:
    job = world.create("Render", "a", "b")
    job.complete(world.now() + SECOND, lag=NOW)
    polled_for_a_while(world)
    process = world.processes[0]
    assert requests_of(world, world.poll) == ["jobs"]
    asked = requests_of(world, lambda: world.run(process.rounds.run_now(["Render"], budget=60 * SECOND)))
    assert asked == ["jobs", "jobs/Render/tasks", "jobs/Render/counts"]
    assert world.report("Render").job.finalized


def test_a_job_is_read_whole_again_when_its_last_full_read_is_a_day_old(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    first = world.report("Render").job.snapshot
    world.wait(27 * 3600)
    world.poll()
    second = world.report("Render").job.snapshot
    assert first
    assert second
    assert second.generation != first.generation
    assert second.full_read_at > first.full_read_at + timedelta(days=1)
    assert verdict(world, "Render").level == "exact"


def test_a_full_read_that_changes_nothing_is_not_repeated_every_round(world: World) -> None:
    """Get Task Counts may stay wrong: then another full read happens only occasionally."""
    job = world.create("Render", *"abcdefghijklmnop")
    polled_for_a_while(world)
    world.service.count_lag = timedelta(days=1)
    for name in "abc":
        job.change(name, RUNNING, at=world.now(), lag=NOW, skew=NOW)
    calls = requests_of(world, lambda: quick_rounds(world))
    listings = sum(call == "jobs/Render/tasks" for call in calls)
    assert listings < 20 * (1 + 1) + 4 * 3
    assert verdict(world, "Render").level == "unverified"


def quick_rounds(world: World) -> None:
    for _ in range(20):
        world.wait(2)
        world.poll()


@pytest.mark.parametrize("committed", [False, True], ids=["before it is written", "after it was written"])
@pytest.mark.parametrize("kills", [False, True], ids=["an answer lost", "a death"])
@pytest.mark.parametrize("call", range(1, 16))
def test_a_full_read_that_breaks_leaves_the_old_counts_and_the_next_one_makes_up(
    world: World, call: int, *, committed: bool, kills: bool
) -> None:
    world.service.page_size = 3
    job = world.create("Render", *"abcdefghijk")
    polled_for_a_while(world)
    job.delete_task("e", world.now())
    rounds(world)
    world.wait(61)
    world.poll(fault=Fault(call, committed=committed, kills=kills))
    assert verdict(world, "Render").level in ("unverified", "exact", "stale")
    rounds(world, 2)
    assert sorted(world.cached("Render")) == list("abcdfghijk")
    assert verdict(world, "Render").level == "exact"


def test_polls_go_on_with_the_old_generation_while_a_new_one_is_filled(world: World) -> None:
    job = world.create("Render", *"abcdef")
    polled_for_a_while(world)
    job.delete_task("a", world.now())
    rounds(world)
    world.wait(61)
    job.change("b", RUNNING, at=world.now() + 100 * SECOND, lag=NOW, skew=NOW)
    job.change("c", RUNNING, at=world.now() + 250 * SECOND, lag=NOW, skew=NOW)
    world.poll_both((40, 1), delay=200)
    rounds(world)
    cached = world.cached("Render")
    assert sorted(cached) == list("bcdef")
    assert (cached["b"].state, cached["c"].state, cached["d"].state) == (RUNNING, RUNNING, ACTIVE)
    assert verdict(world, "Render").level == "exact"


def test_other_jobs_are_confirmed_before_a_full_read_begins(world: World) -> None:
    world.create("Other", "a")
    job = world.create("Render", *"abcdefgh")
    polled_for_a_while(world)
    job.delete_task("a", world.now())
    rounds(world)
    world.wait(61)
    began, process = world.now(), world.processes[0]
    process.batch.latency = 10

    async def last_look_at_other() -> datetime | None:
        task = asyncio.create_task(process.poll())
        for _ in range(1000):
            if any(job.building for job in (await process.jobs.load_all("demo")).values()):
                break
            await asyncio.sleep(1)
        assert not task.done()
        report = await world.started().queries.job("demo", "Other")
        await task
        return report.job.snapshot.looked_at if report.job.snapshot else None

    looked_at = world.run(last_look_at_other())
    assert looked_at is not None
    assert looked_at > began
