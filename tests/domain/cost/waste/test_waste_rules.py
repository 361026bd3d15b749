"""Each rule on waste where it applies and where it doesn't, and what findings say about money."""

from dataclasses import replace
from decimal import Decimal

import pytest

from shared.domain.cost.waste.evidence import BusyNodes, FailedJob, SpotRuns, Waste, WasteEvidence
from shared.domain.cost.waste.rules import waste_found
from shared.domain.cost.waste.time_cost import TimeCost
from shared.domain.findings.finding import Amount, Scope
from shared.domain.pools.pools import Pool
from tests.domain.cost.waste.waste_days import HOUR, OWN, SPOT, UNPRICED, Hours, evidence, pool


def found(e: WasteEvidence) -> dict[str, Waste]:
    return {one.finding.rule: one for one in waste_found(e)}


def of_pool(hours: Hours, of: Pool | None = None, *, days: int = 7, slots: int = 1) -> dict[str, Waste]:
    return found(evidence(hours, of=of, days=days, slots=slots))


def nightly(classes: dict[str, float]) -> Hours:
    """Returns two hours of work, and others with the given classes."""
    night: Hours = {hour: {OWN: classes} for hour in range(22)}
    return {**night, 22: {OWN: {"succeeded": 4.0}}, 23: {OWN: {"succeeded": 4.0}}}


def test_a_pool_with_idle_nodes_at_night_costs_the_idle_nodes() -> None:
    one = of_pool(nightly({"idle": 4.0}))["idlePool"]
    assert (one.finding.scope, one.finding.severity) == (Scope("pool", "P"), "info")
    assert one.finding.amount == Amount(Decimal(7 * 22 * 4), "money")
    assert one.monthly == 30 * 22 * 4
    assert one.finding.evidence["idleHours"] == 154
    assert "In 154 hours of the last 7 days" in one.finding.sentence
    assert one.finding.advice.endswith("az batch pool resize --pool-id P --target-dedicated-nodes 0")


def test_a_pool_that_is_idle_for_seven_hours_is_not_named() -> None:
    assert "idlePool" not in of_pool({hour: {OWN: {"idle": 4.0}} for hour in range(7)}, days=1)
    assert "idlePool" in of_pool({hour: {OWN: {"idle": 4.0}} for hour in range(8)}, days=1)


def test_an_idle_pool_with_a_formula_gets_advice_on_the_formula() -> None:
    one = of_pool(nightly({"idle": 4.0}), pool(nodes=None, autoscale=True))["idlePool"]
    assert "az batch pool autoscale evaluate --pool-id P" in one.finding.advice


def test_one_day_is_named_as_such_and_has_no_month() -> None:
    one = of_pool(nightly({"idle": 4.0}), days=1)["idlePool"]
    assert (one.monthly, one.cost.amount) == (None, Decimal(88))
    assert "of 1 day so far" in one.finding.sentence


def test_waste_without_a_price_has_time_and_no_amount() -> None:
    one = of_pool({hour: {UNPRICED: {"idle": 1.0}} for hour in range(24)})["idlePool"]
    assert (one.cost.amount, one.monthly, one.finding.amount) == (None, None, None)
    assert one.cost.time == one.cost.unpriced == 7 * 24 * HOUR


def test_nodes_that_are_idle_in_hours_with_tasks_are_named_from_thirty_percent_on() -> None:
    one = of_pool({hour: {OWN: {"succeeded": 2.5, "idle": 2.0}} for hour in range(24)})["idleBetweenTasks"]
    assert (one.cost.amount, one.monthly) == (Decimal(7 * 24 * 2), Decimal(30 * 24 * 2))
    assert (one.finding.evidence["idleShare"], one.finding.title) == (44, "44 % of nodes' time is idle between tasks")
    assert one.finding.sentence == "In the last 7 days nodes were idle for 336.0 node hours: 44 % of their time."
    assert "'$TargetDedicatedNodes = min(NODES, ceil(max($PendingTasks.GetSample(1)) / 1));" in one.finding.advice
    hours = {hour: {OWN: {"succeeded": 6.0, "starting": 1.1, "idle": 3.0}} for hour in range(24)}
    assert "idleBetweenTasks" not in of_pool(hours)


@pytest.mark.parametrize(
    ("of", "advice"),
    [
        (pool(nodes=None, autoscale=True), "az batch pool autoscale evaluate --pool-id P"),
        (
            pool(nodes=0, spot=4, slots=8),
            "'$TargetLowPriorityNodes = min(NODES, ceil(max($PendingTasks.GetSample(1)) / 8));",
        ),
    ],
)
def test_idle_nodes_between_tasks_get_advice_on_the_formula_that_the_pool_has_or_could_have(
    of: Pool, advice: str
) -> None:
    one = of_pool({1: {OWN: {"succeeded": 2.0, "idle": 4.0}}}, of)["idleBetweenTasks"]
    assert advice in one.finding.advice


def test_a_pool_without_tasks_is_not_idle_between_them() -> None:
    assert "idleBetweenTasks" not in of_pool({hour: {OWN: {"idle": 4.0}} for hour in range(7)}, days=1)


def test_free_slots_are_idle_between_tasks_unless_another_rule_names_them() -> None:
    few = {UNPRICED: {"succeeded": 3.0, "idleSlots": 1.0, "idle": 3.0}}
    one = of_pool({1: few}, slots=4)["idleBetweenTasks"]
    assert one.cost.time == 7 * 4 * HOUR
    assert "and 7.0 node hours of slots were free beside other tasks" in one.finding.sentence
    many = {UNPRICED: {"succeeded": 2.0, "idleSlots": 2.0, "idle": 3.0}}
    assert of_pool({1: many}, slots=4)["idleBetweenTasks"].cost.time == 7 * 3 * HOUR
    found_by_price = of_pool({1: {OWN: few[UNPRICED]}}, slots=4)
    assert "spotInstead" in found_by_price
    assert found_by_price["idleBetweenTasks"].cost.time == 7 * 3 * HOUR


def test_idle_time_between_tasks_leaves_out_what_other_rules_name() -> None:
    hours = {**nightly({"idle": 4.0}), 22: {OWN: {"succeeded": 2.0, "idle": 3.0}}, 23: {OWN: {"succeeded": 2.0}}}
    listed = of_pool(hours)
    assert {"idlePool", "idleWeekends", "idleBetweenTasks"} <= listed.keys()
    assert listed["idlePool"].cost.amount == 7 * 22 * 4
    assert listed["idleBetweenTasks"].cost.amount == 5 * 3
    assert listed["idleBetweenTasks"].finding.sentence.endswith("35 % of their time beyond what other findings name.")
    sound = {**hours, 22: {OWN: {"succeeded": 8.0, "idle": 3.0}}}
    assert "idleBetweenTasks" not in of_pool(sound)


def test_nodes_beyond_the_size_that_a_pool_needs_are_not_idle_between_tasks() -> None:
    e = evidence({hour: {OWN: {"succeeded": 2.0, "idle": 8.0}} for hour in range(24)}, of=pool(nodes=10))
    listed = sized(e, 6)
    assert listed["oversizedPool"].cost.amount == 7 * 24 * 2
    at_weekends = listed["idleWeekends"].cost.amount
    assert at_weekends == 2 * 24 * 8
    assert listed["idleBetweenTasks"].cost.amount == 7 * 24 * 8 - 7 * 24 * 2 - at_weekends


def test_nodes_that_start_for_longer_than_they_run_are_named_and_others_are_not() -> None:
    one = of_pool({1: {OWN: {"starting": 1.0, "startTask": 2.0, "succeeded": 2.9}}})["startsWithoutRuns"]
    assert one.cost.time == 21 * HOUR
    assert "startsWithoutRuns" not in of_pool({1: {OWN: {"starting": 1.0, "startTask": 2.0, "succeeded": 3.1}}})


def test_less_than_an_hour_of_nodes_is_not_named() -> None:
    assert "startsWithoutRuns" not in of_pool({1: {OWN: {"starting": 0.1}}})


def test_a_start_task_that_fails_in_three_hours_is_named_and_in_two_is_not() -> None:
    failing = {hour: {OWN: {"startTaskFailed": 1.0}} for hour in range(3)}
    assert of_pool(failing, days=1)["failingStartTask"].finding.evidence["failingHours"] == 3
    assert "failingStartTask" not in of_pool({0: failing[0], 1: failing[1]}, days=1)


def test_failed_tasks_are_named_by_job_with_the_commonest_cause() -> None:
    job = FailedJob("nightly:job-3", TimeCost(5 * HOUR, Decimal(5)), {"userCode": 2, "outOfMemory": 40})
    few = FailedJob("few", TimeCost(HOUR // 2, Decimal(1)))
    e = replace(evidence({}), jobs=(job, few))
    (one,) = waste_found(e)
    assert one.finding.scope == Scope("job", "nightly:job-3")
    assert one.finding.evidence["failures"] == ("outOfMemory: 40", "userCode: 2")
    assert "Most of its 42 failures are outOfMemory." in one.finding.sentence
    even = waste_found(replace(e, jobs=(replace(job, failures={"userCode": 21, "outOfMemory": 21}),)))[0]
    assert "21 of its 42 failures are userCode." in even.finding.sentence
    unknown = waste_found(replace(e, jobs=(replace(job, failures=None),)))[0]
    assert "failure" not in unknown.finding.sentence


@pytest.mark.parametrize(("kind", "rule"), [(OWN, "interruptedRuns"), (SPOT, "preemptedRuns")])
def test_runs_without_a_result_are_named_apart_for_dedicated_and_spot_nodes(kind: object, rule: str) -> None:
    runs = {1: {OWN: {"succeeded": 3.0}, SPOT: {"succeeded": 3.0}}}
    assert not {"interruptedRuns", "preemptedRuns"} & of_pool(runs).keys()
    lost = {1: {one: classes | ({"interrupted": 1.0} if one == kind else {}) for one, classes in runs[1].items()}}
    named = {"interruptedRuns", "preemptedRuns"} & of_pool(lost).keys()
    assert named == {rule}
    assert of_pool(lost)[rule].finding.evidence["interruptedShare"] == 25


def test_runs_that_were_retried_are_named_from_an_hour_of_nodes_on() -> None:
    one = of_pool({1: {OWN: {"succeeded": 1.0}, SPOT: {"retried": 1.0}}})["retriedRuns"]
    assert (one.cost.time, one.finding.evidence["retriedShare"]) == (7 * HOUR, 50)
    assert "retriedRuns" not in of_pool({1: {OWN: {"succeeded": 1.0, "retried": 0.1}}})


def test_slots_of_which_a_third_is_free_are_named_and_a_quarter_is_not() -> None:
    one = of_pool({1: {OWN: {"succeeded": 2.0, "idleSlots": 1.0}}}, slots=4)["idleSlots"]
    assert one.finding.evidence["idleShare"] == 33
    assert "idleSlots" not in of_pool({1: {OWN: {"succeeded": 3.0, "idleSlots": 1.0}}}, slots=4)
    assert "idleSlots" not in of_pool({1: {OWN: {"idle": 3.0}}})


def sized(e: WasteEvidence, nodes: int) -> dict[str, Waste]:
    return found(replace(e, pools=[replace(one, most_busy=BusyNodes(nodes, 672)) for one in e.pools]))


def test_a_pool_of_fixed_size_with_nodes_that_are_never_busy_is_named_with_the_size_it_needs() -> None:
    e = evidence({hour: {OWN: {"succeeded": 2.0, "idle": 8.0}} for hour in range(24)}, of=pool(nodes=10))
    one = sized(e, 4)["oversizedPool"]
    assert one.finding.evidence["neededNodes"] == 5
    assert one.finding.advice.endswith("--target-dedicated-nodes 5")
    assert one.cost.amount == 7 * 24 * 10 / 2
    assert "oversizedPool" not in sized(e, 8)
    assert "oversizedPool" not in found(e)  # its samples weren't looked up


@pytest.mark.parametrize("of", [pool(nodes=None, autoscale=True), pool(nodes=4, spot=6), pool(nodes=2)])
def test_a_pool_of_changing_size_or_without_more_nodes_than_it_needs_is_not_oversized(of: Pool) -> None:
    e = evidence({hour: {OWN: {"succeeded": 2.0, "idle": 8.0}} for hour in range(24)}, of=of)
    assert "oversizedPool" not in sized(e, 2)


def test_dedicated_nodes_are_compared_with_spot_nodes_by_both_prices() -> None:
    one = of_pool({1: {OWN: {"succeeded": 4.0}}})["spotInstead"]
    assert (one.cost.amount, one.monthly) == (Decimal(21), Decimal(90))
    assert "it isn't known how often" in one.finding.sentence
    assert "spotInstead" not in of_pool({1: {UNPRICED: {"succeeded": 4.0}}})
    assert "spotInstead" not in of_pool({1: {SPOT: {"succeeded": 4.0}}})


def test_spot_nodes_are_not_suggested_where_azure_takes_many_back() -> None:
    e = evidence({1: {OWN: {"succeeded": 4.0}}})
    few = found(replace(e, spot=SpotRuns(100 * HOUR, 10 * HOUR, 3, 1000)))["spotInstead"]
    assert "10 % of what tasks held was without a result; polls saw 3 interruptions" in few.finding.sentence
    assert "spotInstead" not in found(replace(e, spot=SpotRuns(100 * HOUR, 11 * HOUR, 3, 1000)))


def test_a_weekends_idle_nodes_cost_a_month_of_weekends() -> None:
    one = of_pool({hour: {OWN: {"idle": 1.0, "succeeded": 0.5}} for hour in range(24)})["idleWeekends"]
    assert one.cost.amount == 48
    assert one.monthly == Decimal(48) * 60 / 14
    assert "On 2 days of a weekend" in one.finding.sentence
    assert "idleWeekends" not in of_pool({hour: {OWN: {"idle": 1.0, "succeeded": 1.5}} for hour in range(24)})
    workdays = evidence({hour: {OWN: {"idle": 1.0}} for hour in range(24)})
    assert "idleWeekends" not in found(replace(workdays, days=workdays.days[:1], pools=[
        replace(one, weekend=TimeCost(), weekend_idle=TimeCost()) for one in workdays.pools
    ]))  # fmt: skip


def test_the_dearest_comes_first_and_waste_without_a_price_last() -> None:
    hours = {hour: {OWN: {"idle": 3.0}, UNPRICED: {"startTaskFailed": 2.0}} for hour in range(24)}
    listed = waste_found(evidence(hours))
    amounts = [one.monthly for one in listed]
    assert [one.finding.rule for one in listed] == ["idlePool", "idleWeekends", "failingStartTask"]
    assert amounts == [2160, Decimal(144) * 60 / 14, None]


def test_every_finding_has_as_of_and_days_and_ends_its_advice_with_a_command() -> None:
    hours = {
        hour: {OWN: {"idle": 3.0, "startTaskFailed": 1.0, "interrupted": 1.0, "idleSlots": 1.0}} for hour in range(24)
    }
    for one in waste_found(evidence(hours)):
        assert {"days", "asOf"} <= one.finding.evidence.keys()
        assert ": az batch " in one.finding.advice
