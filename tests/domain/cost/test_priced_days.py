"""Money of days: parts add up to the whole, with any sharing, and nothing without a price gets one."""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.priced_days import NO_JOB, PricedDay, Sharing
from shared.domain.cost.usage_days import (
    DAY,
    JobDay,
    JobUsageKey,
    NodeKind,
    PoolDay,
    UsageDay,
    hours_of_plain,
    jobs_of_plain,
    plain_hours,
    plain_jobs,
    plain_pools,
    pools_of_plain,
)
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from tests.profiles import half_as_many

_HOUR = 3_600_000
_DAY = 20_000
_LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_SMALL, _SPOT, _LARGE = (
    NodeKind("standard_d2s_v5", True),
    NodeKind("standard_d2s_v5", False),
    NodeKind("standard_x9", True),
)
_CLASSES = (*OUTCOMES, "idle", "idleSlots", "starting", "unattributed", "preempted")


def _prices() -> PriceTable:
    meters = {MeterKey("linux", "dedicated"): Decimal("0.1"), MeterKey("linux", "spot"): Decimal("0.02")}
    intervals = {meter: (PriceInterval(price, _LONG_AGO, None, "m"),) for meter, price in meters.items()}
    history = PriceHistory("westeurope", "standard_d2s_v5", intervals, {}, _LONG_AGO)
    return PriceTable("USD", histories={history.place: history})


def _pool(units: dict[NodeKind, dict[str, int]], *, slots: int = 1) -> PoolDay:
    return PoolDay("P1", slots, "westeurope", "linux", "none", units)


@st.composite
def _days(draw: st.DrawFn) -> UsageDay:
    amounts = st.dictionaries(st.sampled_from(_CLASSES), st.integers(1, 10**9))
    kinds = st.dictionaries(st.sampled_from((_SMALL, _SPOT, _LARGE)), amounts)
    pools = {key: _pool(draw(kinds), slots=draw(st.integers(1, 8))) for key in ("p1", "p2")}
    keys = st.builds(
        JobUsageKey,
        st.sampled_from(("p1", "p2", "p3")),
        st.sampled_from((_SMALL, _SPOT)),
        st.sampled_from(OUTCOMES),
    )
    units = st.dictionaries(keys, st.integers(1, 10**9))
    jobs = {job: JobDay(job.upper(), draw(units), draw(units)) for job in ("a", "b", "c")}
    return UsageDay(_DAY, _DAY * DAY, pools, jobs=jobs)


@half_as_many()
@given(_days(), st.sampled_from(("proportional", "even", "none")))
def test_the_lines_of_jobs_add_up_to_those_of_pools(day: UsageDay, sharing: Sharing) -> None:
    priced = PricedDay(day, _prices())
    whole, times = dict[object, Decimal | None](), Counter[object]()
    for line in priced.pool_lines():
        if line.cost_class != "preempted":
            whole[line.pool, line.kind, line.cost_class] = line.amount
            times[line.pool, line.kind, line.cost_class] = line.time
    parts = list(priced.job_lines(sharing))
    for name, money in whole.items():
        mine = [line for line in parts if (line.pool, line.kind, line.cost_class) == name]
        assert sum(line.time for line in mine) == times[name]
        assert (
            all(line.amount is None for line in mine)
            if money is None
            else (abs(sum((line.amount or Decimal(0) for line in mine), Decimal(0)) - money) < Decimal("1e-20"))
        )
    if sharing == "none":
        assert not any(line.is_shared for line in parts)


def test_a_preempted_node_costs_nothing_and_a_size_without_a_price_is_unpriced() -> None:
    pool = _pool({_SPOT: {"preempted": _HOUR, "idle": _HOUR}, _LARGE: {"idle": 2 * _HOUR}})
    lines = {
        (line.kind, line.cost_class): line
        for line in PricedDay(UsageDay(_DAY, 0, {"p1": pool}), _prices()).pool_lines()
    }
    assert lines[_SPOT, "preempted"].amount == 0
    assert lines[_SPOT, "idle"].amount == Decimal("0.02")
    assert (lines[_LARGE, "idle"].amount, lines[_LARGE, "idle"].unpriced) == (None, "notReadYet")


@pytest.mark.parametrize(("sharing", "idle"), [("proportional", ["0.075", "0.025"]), ("even", ["0.05", "0.05"])])
def test_idle_nodes_are_shared_by_what_jobs_held_or_evenly(sharing: Sharing, idle: list[str]) -> None:
    units = {"a": 3 * _HOUR, "b": _HOUR}
    jobs = {job: JobDay(job, {JobUsageKey("p1", _SMALL, "succeeded"): held}) for job, held in units.items()}
    day = UsageDay(_DAY, 0, {"p1": _pool({_SMALL: {"succeeded": 4 * _HOUR, "idle": _HOUR}})}, jobs=jobs)
    lines = list(PricedDay(day, _prices()).job_lines(sharing))
    assert [line.amount for line in lines if line.is_shared] == [Decimal(one) for one in idle]
    assert [(line.job, line.amount) for line in lines if not line.is_shared] == [
        ("a", Decimal("0.3")),
        ("b", Decimal("0.1")),
    ]
    assert NO_JOB not in {line.job for line in lines}


@pytest.mark.parametrize("sharing", ["proportional", "even"])
def test_idle_nodes_of_a_kind_on_which_no_task_ran_are_borne_by_no_job(sharing: Sharing) -> None:
    job = JobDay("A", {JobUsageKey("p1", _SMALL, "succeeded"): _HOUR})
    pool = _pool({_SMALL: {"succeeded": _HOUR, "idle": _HOUR}, _SPOT: {"idle": 5 * _HOUR}})
    lines = list(PricedDay(UsageDay(_DAY, 0, {"p1": pool}, jobs={"a": job}), _prices()).job_lines(sharing))
    idle = [(line.job, line.kind, line.amount) for line in lines if line.cost_class == "idle"]
    assert idle == [("a", _SMALL, Decimal("0.1")), (NO_JOB, _SPOT, Decimal("0.1"))]


@half_as_many()
@given(_days())
def test_a_day_is_read_as_it_was_written(day: UsageDay) -> None:
    hours = {"p1": {3: day.pools["p1"].units, 20: day.pools["p2"].units}}
    assert pools_of_plain(plain_pools(day.pools)) == day.pools
    assert hours_of_plain(plain_hours(hours)) == hours
    assert jobs_of_plain(plain_jobs(day.jobs)) == day.jobs


@pytest.mark.parametrize("sharing", ["proportional", "even", "none"])
def test_a_job_whose_tasks_ended_at_once_bears_nothing(sharing: Sharing) -> None:
    keys = [JobUsageKey("p1", _SMALL, outcome) for outcome in ("succeeded", "running")]
    jobs = {"a": JobDay("A", {keys[0]: 5}), "b": JobDay("B", {keys[0]: 0}), "c": JobDay("C", {keys[1]: 0})}
    pool = _pool({_SMALL: {"succeeded": 5, "running": 7, "idle": 9}})
    lines = list(PricedDay(UsageDay(_DAY, 0, {"p1": pool}, jobs=jobs), _prices()).job_lines(sharing))
    assert {line.job for line in lines} <= {"a", NO_JOB}
    assert sum(line.time for line in lines) == 21
