"""The judge of first reads: the results that count as proved."""

from typing import Any

import pytest

from local.prove.first_read.findings import Findings, received_again


def found(**changed: Any) -> Findings:
    fields = {"reads": 6, "kills": 30, "planned": 20, "compared": 1_200_000, "again": [200_000] * 6}
    return Findings(**{**fields, **changed})


def test_kills_after_a_part_was_stored_prove_that_reads_resume() -> None:
    assert found().problems(30) == []
    lines = list(found().lines(30, 600.0))
    assert "| kills amid a first read | 30, 20 with part of it stored (at least 20) |" in lines
    assert "| tasks received again | 1,200,000, 40,000 a kill (at most 69,866) |" in lines


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"planned": 19}, "only 19 of 30 kills found a part of the read stored"),
        ({"again": [500_000] * 6}, "100,000 tasks were received again a kill, not a third of all at most"),
        ({"kills": 29}, "there were 29 kills instead of 30"),
        ({"reads": 0, "compared": 0, "again": []}, "0 reads came to an end"),
        ({"wrong": ["kill 3: the plan is gone"]}, "kill 3: the plan is gone"),
    ],
)
def test_each_doubt_is_reported(changed: dict[str, Any], said: str) -> None:
    (problem,) = found(**changed).problems(30)
    assert said in problem
    assert f"- {problem}" in list(found(**changed).lines(30, 600.0))


def test_a_read_without_kills_receives_little_more_than_it_needs() -> None:
    assert received_again(0) == 16_000
    assert received_again(2) - received_again(1) == 176_000
