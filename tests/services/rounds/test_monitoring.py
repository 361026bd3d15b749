"""Accounts switched off and on, and polled at different rates."""

import asyncio
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from shared.domain.accounts.accounts import Account
from shared.domain.accounts.monitoring import MonitoringChange
from shared.errors import AmbiguousNameError, CacheConflictError, MonitoringOffError
from shared.services.accounts.registry import Registry
from tests.services.fakes.truth import COMPLETED
from tests.services.worlds.process import INTERVAL
from tests.services.worlds.telling import polled_for_a_while, requests_of, verdict
from tests.services.worlds.world import World

OFF, ON = MonitoringChange(enabled=False), MonitoringChange(enabled=True)
NOW = timedelta()


def change(world: World, wanted: MonitoringChange) -> None:
    world.run(world.processes[1].registry.change("demo", wanted))


def tick(world: World) -> list[str]:
    """Returns the requests to Batch in a tick of the first process."""
    return requests_of(world, lambda: world.run(world.processes[0].polling.tick()))


def rate(seconds: int | None) -> MonitoringChange:
    return MonitoringChange(sets_rate=True, poll_seconds=seconds)


def test_an_account_that_is_switched_off_is_not_called(world: World) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    change(world, OFF)
    off_since = f"{world.now():%Y-%m-%d %H:%M:%S}"
    world.storage.writes.clear()
    for _ in range(10):
        world.wait(61)
        assert tick(world) == []
    assert world.storage.writes == []
    judged = verdict(world, "Render")
    assert (judged.level, judged.reason) == (
        "stale", f"Monitoring of this account is switched off since {off_since} UTC.",
    )  # fmt: skip


def test_an_account_that_is_switched_on_again_is_due_at_once_and_catches_up(world: World) -> None:
    job = world.create("Render", "a", "b")
    polled_for_a_while(world)
    change(world, OFF)
    job.change("a", COMPLETED, at=world.now(), lag=NOW, skew=NOW, code=1)
    world.wait(3600)
    change(world, ON)
    assert tick(world)
    assert verdict(world, "Render").level == "exact"
    assert world.cached("Render")["a"].state == COMPLETED


def test_sealed_jobs_keep_their_verdict_while_the_account_is_switched_off(world: World) -> None:
    job = world.create("Render", "a")
    job.complete(world.now(), lag=NOW)
    polled_for_a_while(world)
    before = verdict(world, "Render")
    change(world, OFF)
    world.wait(3600)
    assert verdict(world, "Render") == before


@pytest.mark.parametrize("seconds", [20, 200])
def test_an_account_is_polled_at_its_own_rate(world: World, seconds: int) -> None:
    world.create("Render", "a")
    change(world, rate(seconds))
    times: list[datetime] = []
    for _ in range(6 * seconds // 10):
        if tick(world):
            times.append(world.now())
        world.wait(10)
    waits = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    assert len(waits) >= 4
    assert all(0.9 * seconds <= wait <= seconds for wait in waits)


def test_an_account_goes_back_to_the_rate_of_the_settings(world: World) -> None:
    change(world, rate(86_400))
    tick(world)
    world.wait(61)
    assert tick(world) == []
    change(world, rate(None))
    assert tick(world) == ["jobs"]
    assert world.run(world.processes[0].registry.monitoring("demo")).interval == INTERVAL


def test_how_old_a_count_may_be_goes_by_the_accounts_own_rate(world: World) -> None:
    world.create("Render", "a")
    polled_for_a_while(world)
    change(world, rate(10))
    world.wait(200)
    assert verdict(world, "Render").reason == "Not polled for 3 min."
    change(world, rate(3600))
    assert verdict(world, "Render").level == "exact"


def test_a_poll_on_demand_of_an_account_that_is_switched_off_is_refused_with_a_way_out(world: World) -> None:
    change(world, OFF)
    with pytest.raises(MonitoringOffError, match=r"switched off since .* PUT /api/accounts/demo/monitoring"):
        world.run(world.processes[0].polling.request("demo", None))


def test_a_poll_that_waited_in_the_queue_while_the_account_was_switched_off_ends_without_a_call(world: World) -> None:
    world.create("Render", "a")
    polling = world.processes[0].polling
    operation = world.run(polling.request("demo", None))
    change(world, OFF)
    assert requests_of(world, lambda: world.run(polling.run("demo", operation.id))) == []
    ended = world.run(polling.operation("demo", operation.id))
    assert ended.status == "failed"
    assert "switched off since" in ended.reasons[0].message


def test_of_two_partial_changes_at_once_both_stay(world: World) -> None:
    async def both() -> None:
        one, other = (process.registry for process in world.processes)
        await asyncio.gather(one.change("demo", OFF), other.change("demo", rate(5)))

    for process in world.processes:
        process.connection.latency = 1
    world.run(both())
    report = world.run(world.processes[0].registry.monitoring("demo"))
    assert (report.monitoring.enabled, report.interval) == (False, timedelta(seconds=5))


def test_of_two_whole_changes_at_once_the_last_one_stays_whole(world: World) -> None:
    async def both() -> None:
        one, other = (process.registry for process in world.processes)
        await asyncio.gather(
            one.change("demo", MonitoringChange(enabled=False, sets_rate=True, poll_seconds=5)),
            other.change("demo", MonitoringChange(enabled=True, sets_rate=True, poll_seconds=7)),
        )

    for process in world.processes:
        process.connection.latency = 1
    world.run(both())
    found = world.run(world.processes[0].registry.monitoring("demo")).monitoring
    assert (found.enabled, found.poll_seconds) in {(False, 5), (True, 7)}


def test_a_change_that_others_are_always_ahead_of_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    process = world.processes[0]

    async def taken(*_: object) -> None:
        raise CacheConflictError("first")

    monkeypatch.setattr(process.monitoring, "save", taken)
    with pytest.raises(CacheConflictError, match="changed too often"):
        world.run(process.registry.change("demo", OFF))


def test_a_name_that_two_accounts_share_is_answered_with_both(world: World) -> None:
    accounts = {
        f"same.{region}": Account(f"same.{region}", f"same=2e{region}", "same", region, "https://x")
        for region in ("westeurope", "northeurope")
    }
    process = world.processes[0]
    registry = Registry(accounts, process.monitoring, process.clock, INTERVAL)
    with pytest.raises(AmbiguousNameError, match=r"shared by same\.northeurope and same\.westeurope, so say which one"):
        world.run(registry.monitoring("Same"))
    world.run(registry.change("same.westeurope", OFF))
    assert not world.run(registry.monitoring("SAME.WestEurope")).monitoring.enabled
    assert world.run(registry.monitoring("same.northeurope")).monitoring.enabled
