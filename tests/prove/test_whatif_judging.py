"""The judge of what-if answers: it reports each deviation, and its cases follow from the seed."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from local.prove.whatif.cases import SIZES, Case, Setting, drawn_cases
from local.prove.whatif.judging import Verdict, faults_of, judged, true_cost

CASES = drawn_cases(1, 60)


def answer(case: Case, seconds: float, cost: float, **changes: Any) -> dict[str, Any]:
    def spread(value: float) -> dict[str, float]:
        return {"expected": value, "low": value * 0.95, "high": value * 1.05}

    asked = {"seconds": spread(seconds), "cost": spread(cost)}
    was = {"seconds": spread(900)}
    found = {"tasks": len(case.tasks), "measuredRuns": 10_000, "seconds": 1000, "asked": asked, "asItWas": was}
    return found | changes


def verdicts(*answers: dict[str, Any]) -> list[Verdict]:
    return [judged(case, one, 1000.0, Decimal(2)) for case, one in zip(CASES, answers, strict=False)]


def test_right_answers_have_no_faults() -> None:
    found = verdicts(*(answer(case, 1030, 2.05) for case in CASES))
    assert faults_of(found) == []
    assert (round(found[0].seconds.error, 3), round(found[0].misfit, 3)) == (0.03, -0.1)


def test_each_case_that_is_far_off_is_named() -> None:
    some = [answer(case, 1000, 2) for case in CASES]
    sure, other = [case for case in CASES if case.is_decided][:2]
    some[sure.number], some[other.number] = answer(sure, 1120, 2), answer(other, 1000, 1.7)
    assert faults_of(verdicts(*some)) == [
        f"end: more than 10% off in cases {sure.number}",
        f"cost: more than 10% off in cases {other.number}",
    ]


def test_a_few_cases_on_spot_nodes_may_be_far_off() -> None:
    spot = [case.number for case in CASES if case.after.spot]
    some = [answer(case, 1120 if case.number in spot else 1000, 2) for case in CASES]
    for one in some:
        one["asked"]["seconds"]["low"] = 900
    assert len(spot) == 6
    assert faults_of(verdicts(*some)) == []
    assert len(faults_of(verdicts(*some[:55]))) == 1


def test_too_many_truths_outside_of_their_spreads_are_a_fault() -> None:
    some = [answer(case, 1080 if case.number < 7 else 1000, 2) for case in CASES]
    assert faults_of(verdicts(*some)) == ["end: outside of the spread in cases 0, 1, 2, 3, 4, 5, 6"]


def test_missing_tasks_and_unmeasured_runs_are_faults() -> None:
    measured = next(case for case in CASES if case.busy)
    found = judged(measured, answer(measured, 1000, 2, tasks=3, measuredRuns=1), 1000.0, Decimal(2))
    assert [fault.partition(": ")[2] for fault in found.faults] == [
        f"3 tasks instead of {len(measured.tasks)} were replayed",
        "only 1 runs were measured",
    ]


def test_the_true_cost_is_that_of_nodes_with_a_machine() -> None:
    row = {"pool": "b", "vmSize": "Standard_D2s_v5", "dedicated": False, "state": "idle", "seconds": 1800.0}
    rows = [row, row | {"state": "preempted"}, row | {"pool": "a"}, row | {"dedicated": True}]
    prices = {("standard_d2s_v5", False): Decimal(2), ("standard_d2s_v5", True): Decimal(1)}
    assert true_cost(rows, "b", prices) == Decimal("1.5")


def test_cases_are_the_same_for_a_seed_and_can_run() -> None:
    assert drawn_cases(1, 60) == CASES
    for case in CASES:
        assert case.before != case.after
        assert all(task.slots <= min(case.before.slots, case.after.slots) for task in case.tasks)
        assert {case.before.vm_size, case.after.vm_size} <= SIZES.keys()
    assert any(case.busy for case in CASES)
    assert any(case.uses_dependencies for case in CASES)


def test_cases_of_measured_runs_ask_for_other_sizes_and_may_not_be_decided() -> None:
    measured = [case for case in drawn_cases(1, 200) if case.busy]
    assert sum(case.before.vm_size != case.after.vm_size for case in measured) > 10
    assert {case.threads for case in measured} == {None, 1, 2, 3}
    case = replace(measured[0], busy=1.4, before=Setting(2, 2, "standard_d2s_v5"))
    larger, smaller = Setting(2, 2, "standard_d4s_v5"), Setting(2, 4, "standard_d2s_v5")
    assert not replace(case, after=larger).is_decided
    assert replace(case, after=larger, busy=0.9).is_decided
    assert replace(case, after=smaller).is_decided
    assert not replace(case, after=replace(smaller, spot=True)).is_decided
