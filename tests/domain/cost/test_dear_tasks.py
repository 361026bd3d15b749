"""The dearest tasks of a job: by slots, time and the price of their nodes, each day at its own price."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.dear_tasks import MOST, DearestTasks
from shared.domain.cost.usage_days import DAY, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Run

_HOUR, _DAY = 3_600_000, 20_000
_START = _DAY * DAY
_OWN, _SPOT = NodeKind("standard_d2s_v5", True), NodeKind("standard_d2s_v5", False)
_ALONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
_CHANGE = from_milliseconds((_DAY + 1) * DAY)


def _prices() -> PriceTable:
    own = (
        PriceInterval(Decimal("0.4"), _ALONG_AGO, _CHANGE, "m"),
        PriceInterval(Decimal("0.8"), _CHANGE, None, "m"),
    )
    spot = (PriceInterval(Decimal("0.1"), _ALONG_AGO, None, "n"),)
    meters = {MeterKey("linux", "dedicated"): own, MeterKey("linux", "spot"): spot}
    history = PriceHistory("westeurope", "standard_d2s_v5", meters, {}, _CHANGE + timedelta(days=1))
    return PriceTable("USD", histories={history.place: history})


def _search(known: int = _START + DAY) -> DearestTasks:
    pool = PoolDay("P", 4, "westeurope", "linux", "none", {_OWN: {"idle": 1}, _SPOT: {"idle": 1}})
    odd = PoolDay("Odd", 1, "westeurope", "linux", "none", {NodeKind("standard_x9", True): {"idle": 1}})
    return DearestTasks.of_days([UsageDay(_DAY, 0, {"p": pool, "odd": odd})], _prices(), known)


def test_slots_time_and_the_kind_of_node_make_the_money() -> None:
    found = _search(known=_START + 2 * _HOUR)
    found.take(
        [
            Run(_START, "own", _START + _HOUR, SUCCESS, 1, ("P", "tvm-1_d")),
            Run(_START, "spot", _START + _HOUR, FAILURE, 2, ("p", "tvm-2_p")),
            Run(_START, "going", None, 0, 1, ("P", "tvm-3_d")),
            Run(_START, "unpriced", _START + 9 * _HOUR, SUCCESS, 1, ("Odd", "tvm-4_d")),
            Run(_START, "elsewhere", _START + 9 * _HOUR, SUCCESS, 1, ("gone", "tvm-5_d")),
            Run(_START, "instant", _START, SUCCESS, 1, ("P", "tvm-1_d")),
        ]
    )
    assert [(one.task, one.amount, one.outcome, one.time) for one in found.tasks()] == [
        ("going", Decimal("0.2"), "running", 2 * _HOUR),
        ("own", Decimal("0.1"), "succeeded", _HOUR),
        ("spot", Decimal("0.05"), "failed", _HOUR),
    ]


def test_a_run_over_midnight_has_the_price_of_each_day() -> None:
    found = _search()
    found.take([Run(_START + DAY - _HOUR, "late", _START + DAY + _HOUR, SUCCESS, 4, ("P", "tvm_d"))])
    assert [one.amount for one in found.tasks()] == [Decimal("0.4") + Decimal("0.8")]


@pytest.mark.parametrize("priced_day", [0, 1])
def test_a_run_that_had_no_price_on_a_day_is_left_out_as_its_money_is_not_known(priced_day: int) -> None:
    ended = PriceInterval(Decimal(1), _ALONG_AGO, _CHANGE, "m")
    begun = PriceInterval(Decimal(1), _CHANGE, None, "m")
    meters = {MeterKey("linux", "dedicated"): ((ended, begun)[priced_day],)}
    history = PriceHistory("westeurope", "standard_d2s_v5", meters, {}, _CHANGE + timedelta(days=9))
    pool = PoolDay("P", 1, "westeurope", "linux", "none", {_OWN: {"idle": 1}})
    prices = PriceTable("USD", histories={history.place: history})
    found = DearestTasks.of_days([UsageDay(_DAY, 0, {"p": pool})], prices, _START + 2 * DAY)
    found.take(
        [
            Run(_START + DAY - _HOUR, "both", _START + DAY + _HOUR, SUCCESS, 1, ("P", "n_d")),
            Run(_START + DAY - _HOUR, "0", _START + DAY, SUCCESS, 1, ("P", "n_d")),
            Run(_START + DAY, "1", _START + DAY + _HOUR, SUCCESS, 1, ("P", "n_d")),
        ]
    )
    assert [(one.task, one.amount) for one in found.tasks()] == [(str(priced_day), Decimal(1))]


def test_runs_over_a_change_of_price_rank_by_what_they_cost_in_all() -> None:
    found = _search()
    late = Run(_START + DAY - _HOUR, "late", _START + DAY + 2 * _HOUR, SUCCESS, 1, ("P", "n_d"))
    long = [Run(_START, f"t{at:02}", _START + 4 * _HOUR, SUCCESS, 1, ("P", "n_d")) for at in range(MOST)]
    found.take([late, *long])
    assert [(one.task, one.amount) for one in found.tasks()][:2] == [("late", Decimal("0.5")), ("t00", Decimal("0.4"))]
    assert len(found.tasks()) == MOST


@given(st.lists(st.tuples(st.integers(1, 5 * _HOUR), st.integers(1, 8), st.booleans()), max_size=60))
def test_of_any_number_of_runs_the_dearest_are_kept(runs: list[tuple[int, int, bool]]) -> None:
    found = _search()
    given_runs = [
        Run(_START, f"t{at:02}", _START + time, SUCCESS, slots, ("P", "n_d" if own else "n_p"))
        for at, (time, slots, own) in enumerate(runs)
    ]
    found.take(given_runs[: len(runs) // 2])
    found.take(given_runs[len(runs) // 2 :])
    every = sorted((Decimal(4 if own else 1) * time * slots for time, slots, own in runs), reverse=True)
    hours = Decimal(40 * _HOUR)
    assert [round(one.amount, 12) for one in found.tasks()] == [round(one / hours, 12) for one in every[:MOST]]


@pytest.mark.parametrize("first", [0, MOST])
def test_of_tasks_that_cost_the_same_those_of_the_first_ids_are_kept(first: int) -> None:
    found = _search()
    alike = [Run(_START, f"t{at:02}", _START + _HOUR, SUCCESS, 1, ("P", "n_d")) for at in range(MOST + 2)]
    dear = Run(_START, "z", _START + 2 * _HOUR, SUCCESS, 1, ("P", "n_d"))
    found.take([*alike[first:], *alike[:first], dear])
    assert [one.task for one in found.tasks()] == ["z", *(f"t{at:02}" for at in range(MOST - 1))]
