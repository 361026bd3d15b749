"""The judge of resources beside jobs: when they can be compared with the truth, and when they match it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.prove.exact.beside import ShownResource, judge_beside, unsettled_beside

_PAUSE = datetime(2026, 1, 5, 8, tzinfo=UTC)
_TRUTH = {"pool one": ("One", {"nodes": "2", "slots": "4"}), "nodes one": ("One", {"a": '["idle"]'})}


def _pool(**changed: Any) -> ShownResource:
    fields = {
        "kind": "pool", "id": "One", "level": "exact", "as_of": _PAUSE, "reason": "so",
        "figures": (("nodes", "2"), ("slots", "4")),
    }  # fmt: skip
    return ShownResource(**{**fields, **changed})


def _nodes(**changed: Any) -> ShownResource:
    return _pool(kind="nodes", figures=(("a", '["idle"]'),), **changed)


def test_correct_figures_are_compared_and_not_reported() -> None:
    found = judge_beside([_pool(), _nodes()], _TRUTH, _PAUSE)
    assert (found.compared, found.wrong) == (2, ())
    assert unsettled_beside([_pool(), _nodes()], _TRUTH) == {}


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (_pool(figures=(("nodes", "3"), ("slots", "4"))), "nodes 3, in truth 2"),
        (_pool(figures=(("nodes", "2"),)), "slots None, in truth 4"),
        (_pool(kind="nodes", figures=(("a", '["idle"]'), ("b", '["idle"]'))), 'b ["idle"], in truth None'),
        (_pool(id="Two"), "there is none"),
        (_pool(id="ONE"), "shown as ONE, in truth One"),
    ],
)
def test_each_difference_is_reported(thing: ShownResource, said: str) -> None:
    assert said in judge_beside([thing], _TRUTH, _PAUSE).wrong[0]
    assert said in unsettled_beside([thing], _TRUTH)[thing.key]


@pytest.mark.parametrize(
    "changed", [{"as_of": _PAUSE - timedelta(seconds=1)}, {"as_of": None}, {"level": "stale"}, {"level": "unverified"}]
)
def test_old_or_inexact_answers_are_not_judged(changed: dict[str, Any]) -> None:
    assert judge_beside([_pool(figures=(), **changed)], _TRUTH, _PAUSE).compared == 0


def test_missing_or_stale_entries_are_not_settled() -> None:
    flaws = unsettled_beside([_pool(level="stale", reason="It failed.")], _TRUTH)
    assert flaws.keys() == {"pool one", "nodes one"}
    assert "right, but stale" in flaws["pool one"]
    assert "not shown" in flaws["nodes one"]
