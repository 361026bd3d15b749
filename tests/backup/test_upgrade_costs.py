"""The judging of `dev.py prove upgrade` on costs, labels, budgets and limits of quotas."""

from datetime import date
from typing import Any

import pytest

from local.prove.upgrade.answers import Answers
from local.prove.upgrade.costs import CostPaths, changed_costs, cost_problems

_PATHS = CostPaths("demo", date(2026, 12, 1))
_COST = {"cost": {"amount": 2.5}, "missingDays": [], "value": [{"name": "turn-2"}]}


def _answers(**changes: Any) -> Answers:
    """Returns good answers; changes are by the names of the properties of paths."""
    found: Answers = dict.fromkeys((*_PATHS.of_the_day_before, *_PATHS.of_today), _COST)
    found |= {_PATHS.budgets: {"value": [{"spent": 1}]}, _PATHS.quotas: {"limits": {"pools": 100, "spotCores": None}}}
    for name, answer in changes.items():
        paths = getattr(_PATHS, name)
        found[paths if isinstance(paths, str) else paths[-1]] = answer
    return found


def test_costs_are_those_of_the_day_and_of_the_day_before() -> None:
    assert _PATHS.of_today[0].endswith("groupBy=pool&from=2026-12-01T00:00:00Z&to=2026-12-02T00:00:00Z")
    assert _PATHS.of_the_day_before[-1].endswith("=metadata:turn&from=2026-11-30T00:00:00Z&to=2026-12-01T00:00:00Z")


def test_of_quotas_only_the_limits_are_compared_and_a_version_without_them_has_none() -> None:
    cores = {"quota": "familyCores", "family": "Dv5", "limit": 8, "used": 3}
    shown = {_PATHS.quotas: {"value": [cores, {"quota": "pools", "family": None, "limit": None, "used": 1}]}}
    found = _PATHS.answers(lambda path: shown.get(path, {"status": 404}))
    assert found[_PATHS.quotas] == {"limits": {"Dv5": 8, "pools": None}}
    assert _PATHS.answers(lambda _: {"status": 404})[_PATHS.quotas] == {"limits": {}}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"of_today": _COST | {"cost": {"amount": None}}}, "nothing is known"),
        ({"of_the_day_before": _COST | {"missingDays": ["2026-11-30"]}}, "nothing is known"),
        ({"of_today": _COST | {"value": [{"name": ""}]}}, "no costs have the label turn-2"),
        ({"quotas": {"limits": {"pools": None}}}, "no quota has a limit"),
        ({"budgets": {"value": [{"spent": 0}]}}, "nothing was spent of the budget"),
    ],
)
def test_what_lacks_after_a_roll_up_is_a_problem(changes: dict[str, Any], problem: str | None) -> None:
    found = list(cost_problems(_answers(**changes), _PATHS, "turn-2"))
    assert len(found) == (problem is not None)
    assert (problem or "") in "".join(found)


def test_each_answer_that_changed_is_named() -> None:
    before, after = _answers(), _answers(of_the_day_before=_COST | {"cost": {"amount": 2.4}}, budgets={"value": []})
    assert not list(changed_costs(before, before, _PATHS.of_the_day_before))
    (cost,) = changed_costs(before, after, _PATHS.of_the_day_before)
    assert cost.startswith(f"{_PATHS.of_the_day_before[-1]}: was {{'cost': {{'amount': 2.5}}")
    assert len(list(changed_costs(before, after, [*_PATHS.of_today, _PATHS.budgets]))) == 1
