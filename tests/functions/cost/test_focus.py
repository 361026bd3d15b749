"""The FOCUS table: its columns, its sum, its pages, and who bears each charge."""

import csv
import io
from collections import defaultdict
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.stamps import SECOND, stamp
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")
_DAY = 86_400 * SECOND
_MANDATORY = {
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodStart"),
    *("BillingPeriodEnd", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodStart"),
    *("ChargePeriodEnd", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost", "PricingQuantity"),
    *("PricingUnit", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName"),
}


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    return await _running.staged_once(_stage)


async def _stage(world: World) -> None:
    """Runs two pools and two jobs over midnight, and rolls both days up."""
    await world.app.fire("tick")
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 23.5 * 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, "charged", nodes=2, spot=1, slots=2)
    await add_priced_pool(world, "-idle", nodes=1)
    await add_job(world.batch, "first", pool="charged")
    await add_tasks(world.batch, 20, job="first", command="sleep 500")
    manager = models.BatchJobManagerTask(
        id="manager", command_line="sleep 200; exit 1", kill_job_on_completion=True, run_exclusive=False
    )
    where = models.BatchPoolInfo(pool_id="charged")
    await world.batch.create_job_schedule(
        models.BatchJobScheduleCreateOptions(
            id="nightly",
            schedule=models.BatchJobScheduleConfiguration(),
            job_specification=models.BatchJobSpecification(pool_info=where, job_manager_task=manager, priority=9),
        )
    )
    for _ in range(60):
        world.advance(60)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")


def _since(world: World) -> str:
    today = world.emulator.clock.now - world.emulator.clock.now % _DAY
    return stamp(today - _DAY)


async def _rows(world: World, query: str = "") -> tuple[list[dict[str, str]], dict[str, str]]:
    answer = await world.get(f"accounts/demo/cost/focus?from={_since(world)}{query}")
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.body))), answer.headers


async def test_charges_of_a_day_add_up_to_its_cost_whoever_bears_what(staged: World) -> None:
    found: dict[str, Any] = (await staged.get(f"accounts/demo/cost?from={_since(staged)}&groupBy=day")).body
    costs = {one["from"]: one["cost"]["amount"] for one in found["steps"]}
    assert len(costs) == 2
    for sharing in ("none", "proportional", "even"):
        days: defaultdict[str, Decimal] = defaultdict(Decimal)
        for row in (await _rows(staged, f"&sharing={sharing}"))[0]:
            days[row["ChargePeriodStart"]] += Decimal(row["BilledCost"])
            assert row["BilledCost"] == row["EffectiveCost"] == row["ListCost"] == row["ContractedCost"]
        assert {day: round(amount, 6) for day, amount in days.items()} == {
            day: pytest.approx(Decimal(str(amount)), abs=Decimal("1e-6")) for day, amount in costs.items()
        }


async def test_a_row_has_the_columns_of_focus_and_who_bears_it(staged: World) -> None:
    rows, _ = await _rows(staged)
    assert len(_MANDATORY) == 21
    assert set(rows[0]) > _MANDATORY
    held = next(
        row for row in rows if row["x_AllocatedResourceName"] == "nightly:job-1" and row["x_Dedicated"] == "true"
    )
    assert held["x_AllocatedResourceId"] == "microsoft.batch/batchaccounts/demo/jobs/nightly:job-1"
    assert (held["x_AllocatedMethodId"], held["x_AllocatedTags"]) == ("slotTime", '{"jobSchedule":"nightly"}')
    assert (held["x_CostClass"], held["PricingCategory"], held["BillingCurrency"]) == ("failed", "Standard", "USD")
    assert held["ResourceId"] == "microsoft.batch/batchaccounts/demo/pools/charged"
    assert held["ChargePeriodStart"].endswith("T00:00:00Z")
    assert Decimal(held["BilledCost"]) == pytest.approx(
        Decimal(held["PricingQuantity"]) * Decimal(held["x_HourlyPrice"]), abs=Decimal("1e-6")
    )
    nobody = [row for row in rows if not row["x_AllocatedResourceId"]]
    assert {row["x_CostClass"] for row in nobody} >= {"idle", "starting"}
    assert {row["ResourceName"] for row in nobody} >= {"charged", "'-idle"}
    shared, _ = await _rows(staged, "&sharing=even")
    assert "evenIdle" in {row["x_AllocatedMethodId"] for row in shared}


async def test_pages_have_each_charge_once(staged: World) -> None:
    whole, headers = await _rows(staged)
    assert "link" not in headers
    for size in (1, 3, len(whole) - 1):
        found, following = list[dict[str, str]](), f"?from={_since(staged)}&maxpagesize={size}"
        while following:
            answer = await staged.get(f"accounts/demo/cost/focus{following}")
            found += csv.DictReader(io.StringIO(answer.body))
            link = answer.headers.get("link", "")
            following = "?" + link.partition("?")[2].partition(">")[0] if link else ""
        assert found == whole
    for wrong in ("continuation=7", "maxpagesize=25001", "sharing=half", "from=2020-01-01T00:00:00Z"):
        assert (await staged.get(f"accounts/demo/cost/focus?{wrong}")).status == 400
