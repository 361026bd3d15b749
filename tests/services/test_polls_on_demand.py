import pytest

from shared.domain.operations import Reason
from shared.errors import BatchThrottledError, NotFoundError
from tests.services.process import BUDGET
from tests.services.telling import polled_for_a_while, requests_of
from tests.services.world import SECOND, World

ENDPOINT = "http://127.0.0.1:1"


def test_a_poll_on_demand_leaves_a_throttled_account_alone_too(world: World) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    world.service.refusals["jobs"] = BatchThrottledError(ENDPOINT, 300 * SECOND)
    world.wait(61)
    world.poll()
    world.wait(100)
    rounds = world.processes[0].rounds
    before = len(world.processes[0].batch.requests)
    succeeded, reasons = world.run(rounds.run_now(["Render"], budget=BUDGET))
    assert len(world.processes[0].batch.requests) == before
    assert (succeeded, [reason.job for reason in reasons]) == (0, [None])
    assert "the next try is in 200 s" in reasons[0].message


def test_a_poll_on_demand_polls_what_was_asked_for_and_names_unknown_jobs(world: World) -> None:
    world.create("Render", "a")
    world.create("Encode", "a")
    polled_for_a_while(world)
    polling = world.processes[0].polling
    operation = world.run(polling.request("DEMO", ("render", "Missing", "no/such:job")))
    assert operation.status == "queued"
    world.wait(61)
    calls = requests_of(world, lambda: world.run(polling.run("demo", operation.id)))
    assert calls == ["jobs", "jobs/Render/tasks", "jobs/Render/counts"]
    ended = world.run(polling.operation("demo", operation.id))
    assert (ended.status, ended.succeeded, ended.failed) == ("failed", 1, 2)
    assert ended.reasons == (
        Reason("Missing", "There is no job 'Missing'."),
        Reason("no/such:job", "There is no job 'no/such:job'."),
    )
    assert ended.finished_at == world.now()


def test_a_poll_on_demand_that_was_delivered_twice_is_carried_out_once(world: World) -> None:
    world.create("Render", "a")
    world.wait(1)
    polling = world.processes[0].polling
    operation = world.run(polling.request("demo", None))
    ended = world.run(polling.run("demo", operation.id))
    assert ended.status == "succeeded"
    assert requests_of(world, lambda: world.run(polling.run("demo", operation.id))) == []


def test_a_poll_on_demand_says_which_jobs_it_did_not_get_to(world: World) -> None:
    for number in range(20):
        world.create(f"job-{number:02}", "a")
    world.wait(1)
    process = world.processes[0]
    process.batch.latency = 10
    succeeded, reasons = world.run(process.rounds.run_now(None, budget=30 * SECOND))
    assert 0 < succeeded < 20
    assert succeeded + len(reasons) == 20
    assert all("over before its turn" in reason.message for reason in reasons)


def test_what_is_not_there_cannot_be_polled(world: World) -> None:
    polling = world.processes[0].polling
    with pytest.raises(NotFoundError, match="no account 'other'"):
        world.run(polling.request("other", None))
    with pytest.raises(NotFoundError, match="no poll '7'"):
        world.run(polling.operation("demo", "7"))
