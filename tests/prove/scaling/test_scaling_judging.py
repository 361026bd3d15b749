"""The judge of replays of pools' own formulas: it names each bar that doesn't hold, and its pools follow the seed."""

from typing import Any

from local.prove.scaling.judging import faults_of, judged
from local.prove.scaling.pools import FORMULAS, drawn_pools
from shared.domain.autoscale.parser import parsed

UNKNOWN = {"asked": None, "reason": "$CPUPercent can't be replayed."}


def answer(evaluations: int, equal: int, **changes: Any) -> dict[str, Any]:
    own = {"evaluations": evaluations, "equal": equal, "meanDifference": 0.1, "failed": 0, "error": None}
    return {
        "ownFormula": own | changes,
        "asItWas": {"nodeSeconds": {"expected": 1100}},
        "seen": {"nodeSeconds": 1000},
    }


def test_right_answers_have_no_faults() -> None:
    found = [judged("one", answer(24, 24)), judged("two", answer(24, 22))]
    assert faults_of(found, UNKNOWN) == []
    assert round(found[0].misfit, 3) == 0.1


def test_each_bar_that_does_not_hold_is_named() -> None:
    found = [judged("one", answer(24, 20)), judged("two", answer(3, 3, failed=1, error="Why."))]
    assert faults_of(found, {"asked": {}, "reason": None}) == [
        "two: only 3 evaluations were compared",
        "two: 1 evaluations failed: Why.",
        "only 23 of 27 recorded targets were reproduced",
        "the answer on samples that aren't stored doesn't say so",
    ]


def test_pools_follow_the_seed_and_their_formulas_can_be_read() -> None:
    assert drawn_pools(1) == drawn_pools(1) != drawn_pools(2)
    for pool in drawn_pools(1):
        assert parsed(pool.formula).statements
    assert [pool.name for pool in drawn_pools(1)] == list(FORMULAS)
