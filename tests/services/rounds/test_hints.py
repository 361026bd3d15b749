"""Events about jobs are a reason to poll those jobs first, and no more than that."""

from tests.services.worlds.telling import polled_for_a_while, requests_of
from tests.services.worlds.world import World


def one_round(world: World) -> list[str]:
    world.wait(61)
    return requests_of(world, world.poll)


def test_a_round_begins_with_the_jobs_that_were_heard_of_and_asks_all_of_them_once(world: World) -> None:
    for name in ("a", "b", "c"):
        world.create(name, "task")
    polled_for_a_while(world)
    before = one_round(world)
    assert before == ["jobs", "jobs/a/counts", "jobs/b/counts", "jobs/c/counts"]
    account = world.processes[0].rounds.source.account
    world.processes[0].polling.hint("another", ["A"])
    world.processes[0].polling.hint(account.key, ["C", "gone"])
    hinted = one_round(world)
    assert hinted[:2] == ["jobs", "jobs/c/tasks"]
    assert sorted(hinted) == ["jobs", "jobs/a/tasks", "jobs/b/tasks", "jobs/c/counts", "jobs/c/tasks"]
    assert len(one_round(world)) == len(before)


def test_of_jobs_that_were_heard_of_only_so_many_are_remembered_until_the_next_round(world: World) -> None:
    for name in ("a", "b", "c"):
        world.create(name, "task")
    polled_for_a_while(world)
    account = world.processes[0].rounds.source.account
    for names in ([f"gone-{number}" for number in range(20_000)], ["C"]):
        world.processes[0].polling.hint(account.key, names)
    assert one_round(world)[1].startswith("jobs/a/")
    world.processes[0].polling.hint(account.key, ["C"])
    assert one_round(world)[1] == "jobs/c/tasks"
