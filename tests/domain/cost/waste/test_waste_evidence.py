"""The evidence of rules on waste: which days count, what they cost, and what is left out."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from shared.domain.cost.usage_days import JobDay, JobUsageKey
from shared.domain.cost.waste.evidence import SpotRuns
from shared.domain.cost.waste.gathering import waste_evidence
from shared.domain.cost.waste.idle.idle_pools import idle_pool
from shared.domain.cost.waste.time_cost import TimeCost
from shared.domain.nodes.interruptions import InterruptionCount, Interruptions
from shared.domain.nodes.nodes import NodeSummary
from shared.domain.pools.pools import NodesSnapshot
from tests.domain.cost.waste.waste_days import HOUR, NOW, OWN, SPOT, TODAY, UNPRICED, day, evidence, pool

IDLE = {hour: {OWN: {"idle": 2.0}} for hour in range(24)}


def test_seven_full_days_count_and_today_does_not() -> None:
    found = waste_evidence([day(back, IDLE) for back in range(9, -1, -1)], {"p": pool()}, TODAY)
    assert found
    assert (len(found.days), found.days[-1], found.full_days) == (7, date(2026, 11, 29), 7)
    assert found.pools[0].idle_cost == TimeCost(7 * 48 * HOUR, Decimal(7 * 48))
    assert found.monthly(found.pools[0].idle_cost) == 48 * 30


def test_fewer_than_three_full_days_count_with_today_and_have_no_month() -> None:
    found = waste_evidence([day(back, IDLE) for back in (3, 2, 1, 0)], {"p": pool()}, TODAY)
    assert found
    assert (len(found.days), found.full_days, found.days_text) == (4, 2, "4 days so far")
    assert found.monthly(found.pools[0].idle_cost) is None


def test_a_day_after_one_without_usage_may_have_been_watched_in_part_and_is_no_full_one() -> None:
    part, whole = {23: {OWN: {"idle": 4.0}}}, {hour: {OWN: {"idle": 4.0}} for hour in range(24)}
    found = waste_evidence([day(3, part), day(2, whole), day(1, whole)], {"p": pool()}, TODAY)
    assert found
    assert (len(found.days), found.full_days, found.monthly(found.pools[0].idle_cost)) == (3, 2, None)
    found = waste_evidence([day(4, part), *(day(back, whole) for back in (3, 2, 1, 0))], {"p": pool()}, TODAY)
    assert found
    assert (len(found.days), found.full_days, found.monthly(found.pools[0].idle_cost)) == (3, 3, Decimal(96 * 30))
    found = waste_evidence([day(back, whole) for back in (7, 6, 4, 3, 2, 1)], {"p": pool()}, TODAY)
    assert found
    assert [(NOW.date() - one).days for one in found.days] == [6, 3, 2, 1]


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ((8, 7, 6, 5, 4, 3, 2, 1, 0), "the last 7 days"),
        ((5, 4, 3, 2, 1, 0), "the last 4 days"),
        ((8, 7, 6, 5, 4, 1, 0), "4 full days of the last 7 days"),
        ((7, 6, 4, 3, 2, 1, 0), "4 full days of the last 7 days"),
        ((8, 7, 6, 5, 4), "4 full days of the last 7 days"),
        ((3, 2, 1, 0), "4 days so far"),
    ],
)
def test_days_are_the_last_ones_only_where_they_reach_to_yesterday_without_a_gap(
    stored: Sequence[int], text: str
) -> None:
    found = waste_evidence([day(back, IDLE) for back in stored], {"p": pool()}, TODAY)
    assert found
    assert found.days_text == text
    named = idle_pool(found, found.pools[0])
    assert named
    assert f"hours of {text} the pool" in named.finding.sentence


def test_without_usage_there_is_no_evidence_and_a_deleted_pool_has_none() -> None:
    assert waste_evidence([], {"p": pool()}, TODAY) is None
    found = waste_evidence([day(1, IDLE)], {}, TODAY)
    assert found
    assert list(found.pools) == []


@pytest.mark.parametrize("busy", ["succeeded", "failed", "running", "idleSlots", "unattributed", "unwatched"])
def test_an_hour_in_which_a_node_was_busy_or_nobody_watched_is_not_idle(busy: str) -> None:
    hours = {0: {OWN: {"idle": 3.0, busy: 0.5}}, 1: {OWN: {"idle": 3.0}}, 2: {OWN: {"starting": 1.0}}}
    (found,) = evidence(hours, days=3).pools
    assert (found.idle_hours, found.idle_cost.time) == (3, 9 * HOUR)


def test_time_without_a_price_is_in_no_amount() -> None:
    (mixed,) = evidence({0: {OWN: {"idle": 1.0}, UNPRICED: {"idle": 2.0}}}, days=3).pools
    assert mixed.idle_cost == TimeCost(9 * HOUR, Decimal(3), 6 * HOUR)
    (none,) = evidence({0: {UNPRICED: {"idle": 2.0}}}, days=3).pools
    assert (none.idle_cost.amount, none.idle_cost.unpriced) == (None, 6 * HOUR)


def test_weekends_are_saturdays_and_sundays() -> None:
    found = evidence({5: {OWN: {"idle": 2.0, "succeeded": 1.0, "unwatched": 9.0}}})
    assert found.weekend_days == 2
    assert (found.pools[0].weekend.time, found.pools[0].weekend_idle.time) == (6 * HOUR, 4 * HOUR)
    assert found.pools[0].weekend_idle_cost.time == 0


def test_idle_hours_at_weekends_are_also_counted_apart() -> None:
    (found,) = evidence(IDLE).pools
    assert (found.idle_cost.time, found.weekend_idle_cost.time) == (7 * 48 * HOUR, 2 * 48 * HOUR)


def test_the_busiest_hour_is_in_nodes_however_many_slots_these_have() -> None:
    hours = {3: {OWN: {"succeeded": 1.5, "idleSlots": 1.0, "idle": 1.5}}, 4: {OWN: {"running": 1.0}}}
    assert evidence(hours, slots=4).pools[0].busiest == 2.5


def test_what_dedicated_nodes_cost_beyond_spot_nodes_is_the_difference_of_prices_while_they_ran_tasks() -> None:
    (found,) = evidence({1: {OWN: {"succeeded": 2.0, "idle": 5.0}, SPOT: {"succeeded": 8.0}}}, days=3).pools
    assert found.saving == TimeCost(6 * HOUR, Decimal("4.5"))
    (unpriced,) = evidence({1: {UNPRICED: {"succeeded": 2.0}}}, days=3).pools
    assert unpriced.saving.amount is None


def test_failed_time_of_jobs_is_summed_over_days_and_the_dearest_come_first() -> None:
    jobs = {
        name.lower(): JobDay(name, {JobUsageKey("p", kind, "failed"): units, JobUsageKey("p", kind, "succeeded"): 9})
        for name, kind, units in [("A", SPOT, 3 * HOUR), ("B", OWN, HOUR), ("C", UNPRICED, 2 * HOUR)]
    }
    hours = {1: {OWN: {"failed": 1.0}, SPOT: {"failed": 3.0}, UNPRICED: {"failed": 2.0}}}
    found = waste_evidence([day(back, hours, jobs=jobs) for back in (2, 1)], {}, TODAY)
    assert found
    assert [(job.job_id, job.cost.amount, job.cost.time) for job in found.jobs] == [
        ("B", 2, 2 * HOUR),
        ("A", Decimal("1.5"), 6 * HOUR),
        ("C", None, 4 * HOUR),
    ]


def test_runs_on_spot_nodes_are_those_of_the_account_with_the_interruptions_that_pools_count() -> None:
    hours = {1: {SPOT: {"succeeded": 3.0, "interrupted": 1.0, "idle": 9.0}, OWN: {"interrupted": 5.0}}}
    tally = InterruptionCount(1000, Interruptions(total=7))
    counted = NodesSnapshot(NOW, NOW, "fullRead", NodeSummary(), "d", tally=tally)
    found = evidence(hours, of=replace(pool(), snapshot=counted), days=3)
    assert found.spot == SpotRuns(12 * HOUR, 3 * HOUR, 7, 1000)
    assert evidence({1: {OWN: {"interrupted": 5.0}}}).spot is None
