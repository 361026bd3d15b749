"""Costs by labels: a job's metadata before its pool's, a tag of the account, and the same sum as every grouping."""

from decimal import Decimal

from shared.domain.cost.cost_groups import LabelGrouping, cost_table
from shared.domain.cost.cost_ranges import CostRange
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, PoolDay, UsageDay
from tests.domain.cost.waste.waste_days import HOUR, OWN, TODAY, prices

_USAGE = UsageDay(
    TODAY,
    TODAY * DAY,
    {
        key: PoolDay(key.upper(), 1, "westeurope", "linux", "none", {OWN: {"succeeded": 3 * HOUR, "idle": HOUR}})
        for key in ("p", "q")
    },
    jobs={
        "a": JobDay("A", {JobUsageKey("p", OWN, "succeeded"): 2 * HOUR, JobUsageKey("q", OWN, "succeeded"): HOUR}),
        "b": JobDay("B", {JobUsageKey("p", OWN, "succeeded"): HOUR, JobUsageKey("q", OWN, "succeeded"): 2 * HOUR}),
    },
    pool_labels={"p": {"team": "render"}},
    job_labels={"a": {"team": "film"}},
    tags={"team": "all"},
)
_RANGE = CostRange(range(TODAY, TODAY + 1))


def _amounts(grouping: LabelGrouping) -> dict[str, Decimal | None]:
    table = cost_table([PricedDay(_USAGE, prices())], grouping, "none", _RANGE)
    assert table.total.total.amount == 8
    return {name: group.total.amount for name, group in table.groups.items()}


def test_a_jobs_metadata_counts_before_its_pools_and_what_has_neither_is_without_a_name() -> None:
    assert _amounts(LabelGrouping("metadata", "team")) == {"film": 3, "render": 2, "": 3}
    assert _amounts(LabelGrouping("metadata", "other")) == {"": 8}


def test_a_tag_is_that_of_the_account() -> None:
    assert _amounts(LabelGrouping("tag", "team")) == {"all": 8}
    assert _amounts(LabelGrouping("tag", "other")) == {"": 8}
