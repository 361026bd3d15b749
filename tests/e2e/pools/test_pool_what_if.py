"""The form beside a pool's formula, with a canned API: what it asks, and the replays that it shows."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.e2e.canned.canned_api import Canned
from tests.e2e.canned.pool_page import FAINT_TEXT, section, show_pool


def _spread(expected: float) -> dict[str, float]:
    return {"expected": expected, "low": expected * 0.9, "high": expected * 1.1}


def _scaling(hours: float, **changes: Any) -> dict[str, Any]:
    return {
        "nodeSeconds": _spread(3600 * hours),
        "cost": _spread(hours / 5),
        "meanWaitSeconds": _spread(60),
        "longestWaitSeconds": 300,
        "tasks": 1200,
        "unfinishedTasks": 0,
        "lostRuns": 0,
        "evaluations": 2016,
        "failed": 0,
        "error": None,
        "targets": [{"dedicated": 4, "spot": 1}, {"dedicated": 9, "spot": 0}],
    } | changes


def what_if(**changes: Any) -> dict[str, Any]:
    """Returns replays of a week: with the pool's own formula, and with another one that fails at times."""
    sentence = "Line 1, column 5: avg needs at least 1 value, not 0."
    own = {"evaluations": 2016, "equal": 2000, "meanDifference": 0.02, "failed": 0, "error": None}
    return {
        "currency": "USD",
        "noPrice": None,
        "seen": {"nodeSeconds": 360_000, "cost": 20, "meanWaitSeconds": 55},
        "ownFormula": own,
        "asItWas": _scaling(100),
        "asked": _scaling(50, unfinishedTasks=3, lostRuns=1, failed=2, error=sentence),
        "assumptions": ["Batch has as many nodes as are asked for, and interrupts no spot node."],
        "reason": None,
    } | changes


def test_another_formula_is_replayed_when_asked(page: Page, pools: Canned) -> None:
    pools.parts["whatif"] = what_if()
    show_pool(page, pools)
    shown = section(page, "autoscale")
    shown.get_by_text("Try another formula").click()
    assert shown.locator("[data-what-if]").count() == 0
    shown.get_by_label("Other formula").fill("// none\n  $TargetDedicatedNodes = 2;")
    shown.get_by_label("Minutes between evaluations").fill("10")
    asked = "/pools/render-d4s/whatif?formula=%24TargetDedicatedNodes+%3D+2%3B&interval=PT10M"
    with page.expect_request(lambda request: request.url.endswith(asked)):
        shown.get_by_role("button", name="Replay seven days").click()
    expect(shown.locator("[data-agreement]")).to_contain_text(
        "The pool's own formula gives 2,000 of 2,016 recorded targets"
    )
    expect(shown.locator("[data-row='Time of nodes'] td")).to_have_text(
        ["100 h", "100 h (90 h to 110 h)", "50 h (45 h to 55 h)"]
    )
    expect(shown.locator("[data-row='Highest target'] td")).to_have_text(["", "9 nodes", "9 nodes"])
    expect(shown.locator("[data-row=Tasks] td")).to_have_text(["", "1,200", "1,200, 3 unfinished, 1 lost run"])
    expect(shown).to_contain_text("As asked: Line 1, column 5: avg needs at least 1 value, not 0.")
    expect(shown.get_by_role("list", name="Assumptions")).to_contain_text("interrupts no spot node")
    assert page.evaluate(FAINT_TEXT) == []


def test_errors_of_the_own_formula_are_shown(page: Page, pools: Canned) -> None:
    sentence = "Line 2, column 1: there is no variable '$NoSuch'."
    pools.parts["whatif"] = what_if(asItWas=_scaling(100, failed=7, error=sentence), asked=_scaling(50))
    show_pool(page, pools)
    shown = section(page, "autoscale")
    shown.get_by_text("Try another formula").click()
    shown.get_by_role("button", name="Replay seven days").click()
    expect(shown.locator("[data-row=Evaluations] td")).to_have_text(["", "2,016, 7 failed", "2,016"])
    expect(shown).to_contain_text(f"As it was: {sentence}")


def test_samples_that_are_not_stored_are_named(page: Page, pools: Canned) -> None:
    reason = "$CPUPercent can't be replayed: no API of Batch shows these samples, so none are stored."
    pools.parts["whatif"] = what_if(ownFormula=None, asItWas=None, asked=None, assumptions=[], reason=reason)
    show_pool(page, pools)
    shown = section(page, "autoscale")
    shown.get_by_text("Try another formula").click()
    shown.get_by_role("button", name="Replay seven days").click()
    expect(shown).to_contain_text(reason)
    expect(shown.locator("[data-what-if]")).to_have_count(0)
