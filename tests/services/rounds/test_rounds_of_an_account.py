from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from shared.domain.jobs.jobs import Retired
from shared.errors import (
    BatchAnswerError,
    BatchMissingError,
    BatchRefusedError,
    BatchThrottledError,
    BatchUnreachableError,
)
from shared.services.jobs import discovery
from tests.services.fakes.memory_tables import Fault
from tests.services.fakes.truth import COMPLETED, RUNNING
from tests.services.worlds.process import BUDGET, INTERVAL
from tests.services.worlds.telling import last_round, polled_for_a_while, requests_of, verdict
from tests.services.worlds.world import SECOND, World

NOW = timedelta()
ENDPOINT = "http://127.0.0.1:1"


def one_round(world: World) -> list[str]:
    """Returns the requests to Batch in the next round."""
    world.wait(61)
    return requests_of(world, world.poll)


def test_a_change_seen_late_is_still_reported(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    job.change("a", RUNNING, at=world.now(), lag=30 * SECOND, skew=NOW)
    world.wait(29)
    world.poll()
    assert world.cached("Render")["a"].state != RUNNING
    world.wait(29)
    world.poll()
    assert world.cached("Render")["a"].state == RUNNING
    assert verdict(world, "Render").level == "exact"


def test_a_job_whose_tasks_are_unchanged_writes_no_row_and_costs_one_request_a_round(world: World) -> None:
    world.create("Render", *"abcdef")
    polled_for_a_while(world)
    world.storage.writes.clear()
    calls = [one_round(world) for _ in range(4)]
    counts, delta = ["jobs", "jobs/Render/counts"], ["jobs", "jobs/Render/tasks"]
    assert calls == [counts, delta, counts, delta]
    assert world.storage.writes == ["accounts"] * 4
    snapshot = world.report("Render").job.snapshot
    assert snapshot
    assert snapshot.looked_at == world.now()


def test_a_job_whose_tasks_are_unchanged_is_exact_as_of_the_last_delta_that_counts_confirmed(world: World) -> None:
    world.create("Render", *"abcdef")
    polled_for_a_while(world)
    one_round(world)
    one_round(world)
    delta = world.now()
    one_round(world)
    assert (verdict(world, "Render").level, verdict(world, "Render").as_of) == ("exact", delta)
    one_round(world)
    assert (verdict(world, "Render").level, verdict(world, "Render").as_of) == ("exact", delta)


def test_a_change_that_counts_show_is_read_in_the_same_round(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    job.change("a", RUNNING, at=world.now(), lag=NOW, skew=NOW)
    assert one_round(world) == ["jobs", "jobs/Render/counts", "jobs/Render/tasks", "jobs/Render/counts"]
    assert world.cached("Render")["a"].state == RUNNING
    assert verdict(world, "Render").as_of == world.now()


def test_a_poll_on_demand_asks_for_changes_and_counts_even_of_a_settled_job(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    process = world.processes[0]
    world.wait(61)
    calls = requests_of(world, lambda: world.run(process.rounds.run_now(["Render"], budget=BUDGET)))
    assert calls == ["jobs", "jobs/Render/tasks", "jobs/Render/counts"]
    assert verdict(world, "Render").as_of == world.now()


def test_a_job_whose_tasks_are_unchanged_reads_no_table_either(world: World) -> None:
    world.create("Render", *"abcdef")
    polled_for_a_while(world)
    before = world.processes[0].connection.calls
    world.run(world.processes[0].poll())
    assert world.processes[0].connection.calls - before == 3  # the round, the jobs, the round again


def test_a_process_that_remembers_nothing_finds_out_as_well(world: World) -> None:
    job = world.create("Render", *"abcdef")
    polled_for_a_while(world)
    job.change("a", COMPLETED, at=world.now(), lag=NOW, skew=NOW, code=1)
    world.wait(61)
    world.poll(1)
    assert world.report("Render").job.snapshot is not None
    assert Counter(task.state for task in world.cached("Render").values())[COMPLETED] == 1


def test_a_job_created_anew_under_its_id_is_read_anew(world: World) -> None:
    first = world.create("Render", "a", "b")
    polled_for_a_while(world)
    before = world.report("Render").job
    first.deleted = world.now() + SECOND
    world.wait(2)
    world.create("render", "c")
    world.wait(60)
    world.poll()
    after = world.report("render").job
    assert list(world.cached("render")) == ["c"]
    assert before.snapshot
    assert after.snapshot
    assert after.retired == (Retired(before.snapshot.generation, after.facts.creation_time),)
    assert after.snapshot.source == "firstRead"


def test_a_job_created_anew_while_it_is_polled_is_read_anew_at_once(world: World) -> None:
    first = world.create("Render", "a", "b")
    polled_for_a_while(world)
    first.deleted = world.now() + 15 * SECOND
    world.truth.create("Render", first.deleted).add("c", first.deleted)
    world.poll(takes=20)
    assert list(world.cached("Render")) == ["c"]


def test_a_deleted_job_is_marked_after_a_404_and_keeps_its_counts(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    counts = world.report("Render").job.snapshot
    job.deleted = world.now() + SECOND
    world.wait(61)
    calls = requests_of(world, world.poll)
    assert calls == ["jobs", "jobs/Render/counts", "jobs/Render"]
    report = world.report("Render")
    assert report.job.deleted
    assert report.verdict.level == "unverified"
    assert report.job.snapshot is not None
    assert counts is not None
    assert report.job.snapshot.counts == counts.counts
    world.wait(61)
    assert requests_of(world, world.poll) == ["jobs", "jobs/Render"]
    world.wait(5 * 60)
    assert requests_of(world, world.poll) == ["jobs"]


def test_jobs_beyond_the_look_ups_of_a_full_list_wait_for_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full list that left some out is incomplete: the next round lists all jobs again instead of a delta."""
    monkeypatch.setattr(discovery, "_LOOK_UPS", 2)
    gone = [world.create(f"Render-{number}", "a") for number in range(5)]
    polled_for_a_while(world)
    for job in gone:
        job.deleted = world.now()
    world.wait(15 * 60)
    for _ in range(3):
        world.wait(61)
        world.poll(check=False)
    assert all(report.job.deleted for report in world.reports().values())


def test_a_service_that_throttles_look_ups_of_missing_jobs_is_asked_for_no_more(world: World) -> None:
    for number in range(5):
        world.create(f"Render-{number}", "a").deleted = world.now() + 200 * SECOND
    polled_for_a_while(world)
    world.wait(16 * 60)
    world.service.refusals["jobs/Render-?"] = BatchThrottledError("http://127.0.0.1:1", 90 * SECOND, status=429)
    asked = requests_of(world, lambda: world.poll(check=False))
    looked_up = asked[: asked.index("jobs/Render-0/counts")]
    assert looked_up == ["jobs", "jobs/Render-0"]


def test_a_job_that_was_called_missing_for_a_moment_is_back_with_the_next_round(world: World) -> None:
    world.create("Render", "a", "b")
    polled_for_a_while(world)
    world.service.refusals["jobs/Render*"] = BatchMissingError("404: no job Render", code="JobNotFound")
    for _ in range(3):
        world.wait(61)
        world.poll(check=False)
        assert world.report("Render").job.deleted
    world.service.refusals.clear()
    world.wait(61)
    world.poll()
    report = world.report("Render")
    assert not report.job.deleted
    assert report.verdict.level == "exact"
    assert report.verdict.checked_at
    assert world.now() - report.verdict.checked_at < 2 * SECOND


def test_jobs_deleted_lately_cost_a_bounded_number_of_requests(world: World) -> None:
    jobs = [world.create(f"job-{number:02}", "a") for number in range(30)]
    polled_for_a_while(world)
    for job in jobs:
        job.deleted = world.now() + SECOND
    world.wait(61)
    world.poll()
    world.wait(61)
    assert len(requests_of(world, world.poll)) == 1 + 20


@pytest.mark.parametrize(
    "error",
    [BatchRefusedError("403"), BatchAnswerError("500"), BatchUnreachableError(ENDPOINT, "closed")],
    ids=["403", "500", "no answer"],
)
def test_a_job_missing_from_a_list_is_not_deleted_without_a_404(world: World, error: Any) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    world.service.hidden.add("Render")
    world.service.refusals["jobs/Render"] = error
    world.wait(61)
    world.poll(full=True)
    assert not world.report("Render").job.deleted


def test_a_sealed_job_that_is_deleted_is_noticed_by_a_full_list(world: World) -> None:
    job = world.create("Render", "a")
    job.complete(world.now() + SECOND, lag=NOW)
    polled_for_a_while(world)
    assert world.report("Render").job.finalized
    job.deleted = world.now()
    world.wait(20 * 60)
    world.poll()
    assert world.report("Render").job.deleted


def test_a_completed_job_is_sealed_after_the_overlap_and_polled_no_more(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    job.change("a", RUNNING, at=world.now(), lag=NOW, skew=NOW)
    world.wait(20)
    job.complete(world.now(), lag=30 * SECOND)
    world.wait(20)
    world.poll()
    assert not world.report("Render").job.finalized
    world.wait(20)
    world.poll()
    report = world.report("Render")
    assert report.job.finalized
    assert report.verdict.level == "exact"
    assert world.cached("Render")["a"].state == COMPLETED
    world.wait(61)
    assert requests_of(world, world.poll) == ["jobs"]
    assert "render" not in last_round(world).confirmations


def test_jobs_completed_before_the_horizon_are_left_out_on_the_first_day(world: World) -> None:
    old, recent = world.create("Old", "a"), world.create("Recent", "a")
    old.complete(world.now() + SECOND, lag=NOW)
    world.wait(2 * 86_400)
    recent.complete(world.now(), lag=NOW)
    world.wait(6 * 86_400)
    world.run(world.processes[0].poll())
    assert list(world.reports()) == ["Recent"]


def test_two_first_reads_at_once_do_not_take_turns_for_ever(world: World) -> None:
    world.create("Render", *"abcdef")
    world.wait(60)
    world.poll_both((2, 2), delay=1, storage_takes=(0.5, 0.5))
    calls = [request for process in world.processes for request in process.batch.requests]
    assert calls.count("jobs/Render/tasks") <= 3
    assert verdict(world, "Render").level == "exact"


@pytest.mark.parametrize("committed", [False, True], ids=["before it is written", "after it was written"])
@pytest.mark.parametrize("kills", [False, True], ids=["an answer lost", "a death"])
@pytest.mark.parametrize("call", range(1, 12))
def test_the_poll_after_a_broken_first_read_makes_up_for_it(
    world: World, call: int, *, committed: bool, kills: bool
) -> None:
    world.service.page_size = 3
    world.create("Render", *"abcdefghijk")
    world.wait(60)
    world.poll(fault=Fault(call, committed=committed, kills=kills))
    world.wait(61)
    world.poll()
    assert len(world.cached("Render")) == 11
    assert verdict(world, "Render").level == "exact"


def test_a_tick_polls_an_account_once_an_interval(world: World) -> None:
    world.create("Render", "a")
    polling = world.processes[0].polling
    times: list[datetime] = []
    for _ in range(24):
        if requests_of(world, lambda: world.run(polling.tick())):
            times.append(world.now())
        world.wait(10)
    assert {later - earlier for earlier, later in pairwise(times)} == {INTERVAL}


def test_a_job_created_anew_between_two_pages_is_served_as_that_though_its_counts_are_the_same(world: World) -> None:
    world.service.page_size = 2
    before = world.create("Render", *"abcd")
    world.wait(61)
    before.deleted = world.now() + 7 * SECOND
    anew = world.truth.create("Render", before.deleted)
    for name in "abcd":
        anew.add(name, before.deleted)
    world.poll(takes=4)  # the jobs, then a page that is answered first, and others after it
    report = world.report("Render")
    assert report.job.snapshot
    assert report.job.facts.creation_time == anew.created
