"""Budgets over the API: set, listed with what was spent, shown in the summary and in metrics, and deleted."""

import json
from typing import Any

import pytest
import pytest_asyncio

from local.batch_emulator.core.stamps import SECOND
from shared.domain.cost.budgets import spending
from shared.services.cost import budget_queries
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool
from tests.functions.support.seen_metrics import families

pytestmark = pytest.mark.asyncio(loop_scope="session")
_BUDGETS = "accounts/demo/budgets"


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    return await _running.staged_once(_stage)


async def _stage(world: World) -> None:
    """Runs an hour of a pool, the first of its day, and rolls it up."""
    await world.app.fire("tick")
    world.advance((86_400 * SECOND - world.emulator.clock.now % (86_400 * SECOND)) / SECOND + 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, "budgeted", nodes=2)
    await add_job(world.batch, "spends", pool="budgeted")
    await add_tasks(world.batch, 2, job="spends", command="sleep 1200")
    for _ in range(30):
        world.advance(60)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")
    for name in [one["name"] for one in (await world.get(_BUDGETS)).body["value"]]:
        await world.delete(f"{_BUDGETS}/{name}")


async def _put(world: World, name: str, **body: Any) -> dict[str, Any]:
    answer = await world.put(f"{_BUDGETS}/{name}", json.dumps(body).encode())
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


async def test_a_budget_has_what_was_spent_and_stands_in_the_list_the_summary_and_metrics(staged: World) -> None:
    await _put(staged, "Whole", amount=1000)
    await _put(staged, "little", amount=0.001, pool="BUDGETED", currency="USD")
    await _put(staged, "none", amount=5, schedule="nightly")
    listed = (await staged.get(_BUDGETS)).body
    whole, little, none = sorted(listed["value"], key=lambda one: str(one["name"]))
    assert [one["name"] for one in (whole, little, none)] == ["Whole", "little", "none"]
    summary = (await staged.get("accounts/demo/cost/summary")).body
    assert (whole["scope"], whole["target"], whole["amount"], whole["currency"]) == ("account", None, 1000, "USD")
    assert whole["spent"] == summary["month"] > 0
    assert whole["share"] == pytest.approx(summary["month"] / 1000, abs=1e-6)
    groups = (await staged.get(f"accounts/demo/cost?from={summary['asOf'][:10]}T00:00:00Z")).body["value"]
    pool = next(one["cost"]["amount"] for one in groups if one["name"] == "budgeted")
    assert (little["state"], little["exceededOn"], little["target"]) == ("exceeded", summary["asOf"][:10], "BUDGETED")
    assert little["spent"] == pytest.approx(pool, abs=1e-6)
    assert (none["spent"], none["state"]) == (0, "within")
    assert none["reason"].startswith("No usage of a job schedule 'nightly' has been stored since ")
    assert (whole["reason"], little["reason"]) == (None, None)
    assert summary["budgets"] == listed["value"]
    found = families((await staged.get("metrics")).body)
    spent = {sample.labels["budget"]: sample.value for sample in found["azbatch_budget_spent"].samples}
    assert spent == pytest.approx({"Whole": whole["spent"], "little": pool, "none": 0}, abs=1e-6)


async def test_a_budget_is_set_anew_matched_without_case_and_deleted(staged: World) -> None:
    before = await _put(staged, "again", amount=7, pool="budgeted")
    after = await _put(staged, "AGAIN", amount=8.25)
    assert (before["scope"], after["scope"], after["amount"]) == ("pool", "account", 8.25)
    assert (await staged.get(f"{_BUDGETS}/again")).body == after
    for _ in range(2):
        answer = await staged.delete(f"{_BUDGETS}/again")
        assert (answer.status, answer.body) == (204, "")
    missing = await staged.get(f"{_BUDGETS}/again")
    assert (missing.status, missing.body["error"]["code"]) == (404, "BudgetNotFound")


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({}, "amount"),
        ({"amount": 0}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": 1e13}, "amount"),
        ({"amount": 0.0000001}, "amount"),
        ({"amount": "much"}, "amount"),
        ({"amount": 1, "currency": "EUR"}, "currency"),
        ({"amount": 1, "pool": "a", "schedule": "b"}, "schedule"),
        ({"amount": 1, "pool": ""}, "pool"),
        ({"amount": 1, "pool": "a\x00b"}, "pool"),
        ({"amount": 1, "schedule": "a\nb"}, "schedule"),
        ({"amount": 1, "job": "a"}, "job"),
    ],
)
async def test_a_budget_that_makes_no_sense_is_refused(staged: World, body: dict[str, Any], target: str) -> None:
    answer = await staged.put(f"{_BUDGETS}/wrong", json.dumps(body).encode())
    assert (answer.status, answer.body["error"]["target"]) == (400, target)


async def test_an_amount_that_is_missing_or_no_number_is_refused_as_such(staged: World) -> None:
    answer = await staged.put(f"{_BUDGETS}/wrong", b'{"amount": null}')
    assert answer.body["error"]["message"] == "The field 'amount' of the body should be a number."
    for body in (b"{}", b""):
        error = (await staged.put(f"{_BUDGETS}/wrong", body)).body["error"]
        assert (error["target"], error["message"]) == (
            "amount",
            "The field 'amount' of the body is missing; it is a number.",
        )


async def test_an_empty_id_is_refused_with_the_length_that_it_may_have(staged: World) -> None:
    answer = await staged.put(f"{_BUDGETS}/wrong", b'{"amount": 1, "pool": ""}')
    assert answer.body["error"]["message"] == "The field 'pool' of the body should be text of 1 to 500 characters."


async def test_a_budgets_name_is_plain(staged: World) -> None:
    for name in ("with space", "a" * 65, "ü"):
        answer = await staged.put(f"{_BUDGETS}/{name}", b'{"amount": 1}')
        assert (answer.status, answer.body["error"]["target"]) == (400, "budget")


async def test_an_account_has_so_many_budgets_and_no_more(staged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await _put(staged, "first", amount=1)
    there = len((await staged.get(_BUDGETS)).body["value"])
    monkeypatch.setattr(budget_queries, "MAX_BUDGETS", there)
    answer = await staged.put(f"{_BUDGETS}/one-more", b'{"amount": 1}')
    assert (answer.status, answer.body["error"]["code"]) == (409, "TooManyBudgets")
    assert (await _put(staged, "first", amount=2))["amount"] == 2


async def test_days_are_read_again_only_after_a_roll_up(staged: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await _put(staged, "steady", amount=1000)
    before = (await staged.get(f"{_BUDGETS}/steady")).body
    computed = []

    def noted(*given: Any) -> Any:
        computed.append(given)
        return spending(*given)

    monkeypatch.setattr(budget_queries, "spending", noted)
    for path in (f"{_BUDGETS}/steady", "metrics", "accounts/demo/cost/summary"):
        assert (await staged.get(path)).status == 200
    assert not computed
    staged.advance(3600)
    await staged.app.fire("tick")
    await staged.app.fire("housekeeping")
    after = (await staged.get(f"{_BUDGETS}/steady")).body
    assert len(computed) == 1
    assert after["spent"] > before["spent"]
