"""The judge of the proof: when a job can be compared with the truth, and when it matches it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.prove.exact.judging import (
    ShownJob,
    histogram,
    judge,
    next_whole_second,
    read_job,
    rounds_taken,
    unsettled,
)
from local.prove.stack.truth import FIELDS

_PAUSE = datetime(2026, 1, 5, 8, tzinfo=UTC)
_COUNTS = dict(zip(FIELDS, (1, 2, 3, 9, 7, 2, 15), strict=True))
_TRUE = {"state": "active", **_COUNTS}


def _shown(**changed: Any) -> ShownJob:
    fields = {
        "id": "Job",
        "is_deleted": False,
        "level": "exact",
        "as_of": _PAUSE,
        "reason": "so",
        "counts": (1, 2, 3, 9, 7, 2, 15),
    }
    return ShownJob(**{**fields, **changed})


def test_correct_counts_are_compared_and_not_reported() -> None:
    found = judge([_shown()], {"Job": _TRUE}, _PAUSE)
    assert (found.compared, found.wrong) == (1, ())


@pytest.mark.parametrize("name", FIELDS)
def test_every_one_of_the_seven_counts_is_compared(name: str) -> None:
    counts = {**_COUNTS, name: _COUNTS[name] + 1}
    found = judge([_shown(counts=tuple(counts.values()))], {"Job": _TRUE}, _PAUSE)
    assert len(found.wrong) == 1
    assert f"{counts[name]} {name}" in found.wrong[0]
    assert f"in truth active, {' '.join(f'{_COUNTS[each]} {each}' for each in FIELDS)}" in found.wrong[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"as_of": _PAUSE - timedelta(seconds=1)},
        {"as_of": None},
        {"level": "unverified"},
        {"level": "stale"},
        {"level": "catchingUp", "counts": None},
        {"is_deleted": True},
    ],
)
def test_old_inexact_or_deleted_counts_are_not_judged(changed: dict[str, Any]) -> None:
    found = judge([_shown(**changed)], {}, _PAUSE)
    assert (found.compared, found.wrong) == (0, ())


def test_a_job_that_does_not_exist_must_not_be_exact() -> None:
    assert "there is no such job" in judge([_shown()], {}, _PAUSE).wrong[0]


def test_ids_are_compared_regardless_of_case() -> None:
    assert judge([_shown(id="JOB")], {"job": _TRUE}, _PAUSE).wrong == ()


def test_a_pause_counts_from_the_next_whole_second() -> None:
    assert next_whole_second(_PAUSE) == _PAUSE
    assert next_whole_second(_PAUSE + timedelta(microseconds=1)) == _PAUSE + timedelta(seconds=1)


def test_an_exact_and_correct_job_is_settled_regardless_of_its_time() -> None:
    assert unsettled([_shown(as_of=_PAUSE - timedelta(hours=1))], {"Job": _TRUE}) == {}


def test_above_200_000_tasks_unverified_counts_are_settled() -> None:
    many = {**_COUNTS, "succeeded": 200_000, "completed": 200_002, "total": 200_008}
    job = _shown(level="unverified", counts=tuple(many.values()))
    assert unsettled([job], {"Job": {**_TRUE, **many}}) == {}
    few = _shown(level="unverified")
    assert "the counts are right, but unverified" in unsettled([few], {"Job": _TRUE})["job"]


@pytest.mark.parametrize(
    ("shown", "truth", "said"),
    [
        ([], {"Job": _TRUE}, "not shown"),
        ([_shown()], {}, "it doesn't exist"),
        ([_shown(id="JOB")], {"Job": _TRUE}, "shown as JOB"),
        ([_shown(level="stale", counts=(0,) * 7)], {"Job": _TRUE}, "in truth"),
        ([_shown(is_deleted=True)], {"Job": _TRUE}, "not shown"),
    ],
)
def test_each_flaw_is_reported(shown: list[ShownJob], truth: dict[str, Any], said: str) -> None:
    assert said in unsettled(shown, truth)["job"]


def test_rounds_are_counted_up_to_the_last_look_with_a_flaw() -> None:
    looks = [{"b": "", "c": "", "d": "", "gone": ""}, {"c": "", "d": ""}, {"b": "", "d": ""}, {"d": ""}]
    assert rounds_taken(looks, "abcd") == {"a": 0, "b": 3, "c": 2, "d": None, "gone": 1}


def test_the_histogram_lists_never_last() -> None:
    assert histogram([1, 0, None, 1, 3]) == "0: 1, 1: 2, 3: 1, never: 1"
    assert histogram([]) == "none"


def test_a_job_of_the_api_is_read_with_and_without_counts() -> None:
    verdict = {"asOf": "2026-01-05T08:00:00Z", "level": "exact", "reason": "so", "source": "delta"}
    answer = {"id": "Job", "deleted": False, "taskCounts": _COUNTS, "verdict": verdict}
    assert read_job(answer) == _shown()
    early = {**answer, "taskCounts": None, "verdict": {**verdict, "asOf": None, "level": "catchingUp"}}
    assert read_job(early) == _shown(as_of=None, level="catchingUp", counts=None)
