"""Costs of several days in groups."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from shared.domain.cost.cost_groups import Grouping, cost_table
from shared.domain.cost.cost_ranges import CostRange
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable

_HOUR, _DAY = 3_600_000, 20_000
_KIND = NodeKind("standard_d2s_v5", True)


def _day(at: int, pool_id: str, job_id: str) -> PricedDay:
    """Returns a day in which a pool was idle for an hour, and ran a task of a job's for another, at 1 an hour."""
    began = datetime(2020, 1, 1, tzinfo=UTC)
    prices = {MeterKey("linux", "dedicated"): (PriceInterval(Decimal(1), began, None, "m"),)}
    history = PriceHistory("westeurope", "standard_d2s_v5", prices, {}, began)
    pool = PoolDay(pool_id, 1, "westeurope", "linux", "none", {_KIND: {"idle": _HOUR, "failed": _HOUR}})
    job = JobDay(job_id, {JobUsageKey("p", _KIND, "failed"): _HOUR})
    usage = UsageDay(_DAY + at, 0, {"p": pool}, jobs={"j": job})
    return PricedDay(usage, PriceTable("USD", histories={history.place: history}))


@pytest.mark.parametrize(("grouping", "name"), [("pool", "NIGHT"), ("job", "Night:Job-1"), ("schedule", "Night")])
@pytest.mark.parametrize("step", [1, 3])
def test_ids_that_differ_only_by_case_are_one_group_under_the_latest_of_them(
    grouping: Grouping, name: str, step: int
) -> None:
    days = [_day(0, "Night", "night:job-1"), _day(1, "night", "NIGHT:JOB-1"), _day(2, "NIGHT", "Night:Job-1")]
    wanted = CostRange(range(_DAY, _DAY + 3), step * CostRange(range(1)).step)
    found = cost_table(days, grouping, "proportional", wanted)
    assert {one: group.total.amount for one, group in found.groups.items()} == {name: Decimal(6)}
    assert found.groups[name].total == found.total.total or grouping != "pool"
    assert [sums.amount for sums in found.groups[name].steps.values()] == [Decimal(6 // (3 // step))] * (3 // step)
