"""Conditions end to end: staged on the emulator, each fires once with its cause and is resolved once."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.injection import Fault
from shared.errors import CacheConflictError, StorageError
from shared.services.conditions.condition_service import ConditionService
from shared.stores.accounts.conditions import ConditionStore
from shared.stores.events import EventStore
from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import add_job, emptied, waiting

pytestmark = pytest.mark.asyncio(loop_scope="session")
_QUARTER_HOUR, _STEP = 15 * 60, 30.0


async def ticks(world: World, seconds: float) -> None:
    """Fires a tick every half minute."""
    for _ in range(int(seconds // _STEP)):
        world.advance(_STEP)
        await world.app.fire("tick")


async def conditions(world: World, state: str = "firing") -> dict[str, Any]:
    found = await world.get(f"conditions?account=demo&state={state}")
    assert found.status == 200, found.body
    return {one["rule"]: one for one in found.body["value"]}


async def changes(world: World) -> Counter[tuple[str, str]]:
    """Returns how often a condition of each rule began to fire or was resolved, by events."""
    found = await world.get("accounts/demo/events?kind=condition.firing,condition.resolved&maxpagesize=1000")
    assert found.status == 200, found.body
    return Counter((one["kind"].partition(".")[2], one["properties"]["rule"]) for one in found.body["value"])


@pytest_asyncio.fixture(loop_scope="session")
async def quiet(world: World) -> World:
    """Returns an empty account whose conditions were evaluated before."""
    await emptied(world)
    await world.app.fire("tick")
    return world


async def test_a_job_that_waits_for_an_empty_pool_is_stuck_with_its_cause_until_the_pool_grows(quiet: World) -> None:
    before = await changes(quiet)
    await waiting(quiet, nodes=0)
    await ticks(quiet, 6 * 60)
    assert await conditions(quiet) == {}
    await ticks(quiet, 10 * 60)
    found = (await conditions(quiet))["jobStuck"]
    assert (found["kind"], found["id"], found["affected"], found["severity"]) == ("job", "job", 6, "blocking")
    assert found["finding"]["evidence"]["cause"] == "poolTargetZero"
    series = 'azbatch_conditions{account="demo",rule="%s",state="firing"} %d.0'
    text = (await quiet.get("metrics")).body
    assert series % ("jobStuck", 1) in text
    assert series % ("poolResizeFailed", 0) in text
    await quiet.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=1))
    await ticks(quiet, 8 * 60)
    assert await conditions(quiet) == {}
    counts = await changes(quiet) - before
    assert (counts["firing", "jobStuck"], counts["resolved", "jobStuck"]) == (1, 1)


async def test_a_failed_resize_fires_once_and_its_stuck_job_follows_from_it(quiet: World) -> None:
    before = await changes(quiet)
    quiet.emulator.settings.dedicatedNodeQuota = 1
    await waiting(quiet, nodes=4, tasks=0)
    await add_tasks(quiet.batch, 6, command="sleep 3000")
    await ticks(quiet, 5 * 60)
    found = (await conditions(quiet))["poolResizeFailed"]
    assert (found["id"], found["affected"]) == ("pool", 3)
    quiet.emulator.settings.dedicatedNodeQuota = 0
    await quiet.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=4))
    await ticks(quiet, _QUARTER_HOUR)
    assert await conditions(quiet) == {}
    counts = await changes(quiet) - before
    assert (counts["firing", "poolResizeFailed"], counts["resolved", "poolResizeFailed"]) == (1, 1)


async def test_an_account_that_answers_no_more_fires_alone_and_what_is_not_known_says_so(quiet: World) -> None:
    before = await changes(quiet)
    await waiting(quiet, nodes=0)
    await ticks(quiet, 17 * 60)
    assert set(await conditions(quiet)) == {"jobStuck"}
    quiet.emulator.faults.all.append(Fault(path="*", status=403, count=100_000))
    await ticks(quiet, 5 * 60)
    found = await conditions(quiet)
    assert set(found) == {"jobStuck", "accountUnpolled"}
    assert "403" in found["accountUnpolled"]["detail"]
    assert found["jobStuck"]["unknown"]
    assert found["jobStuck"]["inhibitedBy"] == {"rule": "accountUnpolled", "kind": "account", "id": "demo"}
    quiet.emulator.faults.all.clear()
    await ticks(quiet, 8 * 60)
    assert set(await conditions(quiet)) == {"jobStuck"}
    counts = await changes(quiet) - before
    assert (counts["firing", "accountUnpolled"], counts["resolved", "accountUnpolled"]) == (1, 1)
    assert (counts["firing", "jobStuck"], counts["resolved", "jobStuck"]) == (1, 0)


async def test_starts_and_ends_of_jobs_are_each_an_event_once(quiet: World) -> None:
    before = await changes(quiet)
    await add_pool(quiet.batch, nodes=2)
    await add_job(quiet, all_tasks_complete_mode="terminatejob")
    await add_tasks(quiet.batch, 4, command="sleep 60; exit 1")
    await ticks(quiet, 10 * 60)
    counts = await changes(quiet) - before
    assert counts["firing", "jobStarted"] == counts["firing", "jobFinished"] == 1
    found = await quiet.get("accounts/demo/events?kind=condition.firing&job=job")
    assert (
        "0 of 4 tasks succeeded, 4 failed."
        in {one["properties"]["rule"]: one["summary"] for one in found.body["value"]}["jobFinished"]
    )


async def test_without_news_a_tick_asks_storage_once_and_evaluates_an_account_every_quarter_of_an_hour(
    quiet: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await waiting(quiet, nodes=0)
    await quiet.put("accounts/demo/monitoring", b'{"pollSeconds": 60}')
    await ticks(quiet, 17 * 60)
    calls = list[str]()

    def counted(owner: type, name: str) -> None:
        method: Callable[..., Any] = getattr(owner, name)

        async def noted(*given: Any) -> Any:
            calls.append(name)
            return await method(*given)

        monkeypatch.setattr(owner, name, noted)

    counted(ConditionStore, "load_times")
    counted(ConditionStore, "load")
    counted(ConditionService, "_evidence")
    for _ in range(20):
        quiet.advance(60)
        await quiet.app.fire("tick")
    assert (calls.count("load_times"), calls.count("load")) == (20, calls.count("_evidence"))
    assert 1 <= calls.count("load") <= 2


@pytest.mark.parametrize("lost", ["events", "row"])
async def test_a_change_is_one_event_though_a_host_dies_or_another_is_first(
    quiet: World, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    before = await changes(quiet)
    owner, name = (EventStore, "save_once") if lost == "events" else (ConditionStore, "save")
    method: Callable[..., Any] = getattr(owner, name)
    failures: list[Exception] = [StorageError("it died") if lost == "events" else CacheConflictError("it was first")]

    async def failing(store: Any, account: str, found: Any, *more: Any) -> Any:
        rules = (
            [one.properties["rule"] for one in found] if lost == "events" else [one.key.rule for one in found.changes]
        )
        if failures and "jobFailing" in rules:
            raise failures.pop()
        return await method(store, account, found, *more)

    monkeypatch.setattr(owner, name, failing)
    await add_pool(quiet.batch, nodes=2)
    await add_job(quiet, lost)
    await add_tasks(quiet.batch, 12, job=lost, command="exit 1")
    await ticks(quiet, 25 * 60)
    assert not failures
    counts = await changes(quiet) - before
    assert counts["firing", "jobFailing"] == 1


async def test_the_list_says_whose_conditions_are_not_up_to_date(quiet: World) -> None:
    await waiting(quiet, nodes=0)
    await ticks(quiet, 2 * 60)
    found = await quiet.get("conditions")
    assert found.body["unevaluated"] == []
    quiet.advance(timedelta(hours=1).total_seconds())
    found = await quiet.get("conditions")
    (late,) = found.body["unevaluated"]
    assert late["account"] == "demo"
    assert late["reason"].endswith("and should have been since: no tick runs.")


async def test_an_unknown_account_is_refused(quiet: World) -> None:
    assert (await quiet.get("conditions?account=other")).status == 404
