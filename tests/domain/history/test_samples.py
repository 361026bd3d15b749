"""Slots of samples in a history: each sample is in its expected slot, and no two share one."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.jobs.job_samples import JobSample, job_sample_of
from shared.domain.pools.pool_samples import POOL_SAMPLES, PoolNumbers, PoolSample
from shared.domain.tasks.tasks import TaskCounts

COUNTS = TaskCounts(1, 2, 3, 9, 5, 4)
KEPT = HistoryRetention(minutes=timedelta(days=7), quarters=timedelta(days=90))


def at(text: str) -> int:
    return to_milliseconds(datetime.fromisoformat(f"2026-11-{text}").replace(tzinfo=UTC))


def sample(begun: str, through: str) -> JobSample:
    return JobSample(at(begun), at(through), None, COUNTS)


def places(rows: dict[str, dict[str, str]]) -> set[str]:
    """Returns slots like `h21 07 m31`: hours or days of the month, and the column."""
    hour, day = at("01 00:00") // 3_600_000, at("01 00:00") // 86_400_000
    return {
        f"h{1 + (int(row[1:]) - hour) // 24:02} {(int(row[1:]) - hour) % 24:02} {column}"
        if row[0] == "h"
        else f"d{1 + int(row[1:]) - day:02} {column}"
        for row, columns in rows.items()
        for column in columns
    }


counts = st.builds(TaskCounts, *[st.integers(0, 10**9)] * 6)
times = st.integers(0, 4 * 10**12)


@given(times, st.integers(0, 10**11), st.none() | st.integers(0, 10**11), counts)
def test_a_sample_is_read_as_it_was_written(begun: int, held: int, exact: int | None, of: TaskCounts) -> None:
    for doubted in (False, True):
        whole = JobSample(begun, begun + held, None if exact is None else begun + exact, of, doubted)
        assert job_sample_of(whole.text()) == whole


def test_samples_of_jobs_and_pools_have_their_stored_texts() -> None:
    job = JobSample(1795244400123, 1795244400128, 1795244400125, COUNTS, doubted=True)
    assert job.text() == "1795244400123 5 2? 1 2 3 9 5 4"
    assert job._replace(exact_through=None, doubted=False).text() == "1795244400123 5 - 1 2 3 9 5 4"
    text = (
        '[1795244400123,1795244400128,true,[[["idle",true,2],["preempted",false,1]],'
        "12,3,5,2,[2,3],[1,null],[8,1.5],1,6,7]]"
    )
    nodes = (("idle", True, 2), ("preempted", False, 1))
    numbers = PoolNumbers(nodes, 12, 3, 5, 2, (2, 3), (1, None), (8, 1.5), 1, 6, 7)
    pool = PoolSample(1795244400123, 1795244400128, exact=True, numbers=numbers)
    assert pool.text() == text
    assert POOL_SAMPLES.decode(text) == pool


@pytest.mark.parametrize(
    "text", ["", "nonsense", "1 2 -", "1 2 - 3 4 5 6 7", "1 2 - 3 4 5 6 7 8 9", "1 2 3 a b c d e f"]
)
def test_incomplete_samples_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        job_sample_of(text)


def test_a_short_sample_stands_in_its_minute_and_its_quarter() -> None:
    found = rows_of((sample("21 07:31:10", "21 07:32:10"),), sample("21 07:33:10", "21 07:33:10"), KEPT)
    assert places(found) == {"h21 07 m31"}  # the quarter belongs to its successor
    found = rows_of((sample("21 07:31:10", "21 07:32:10"),), sample("21 07:46:10", "21 07:46:10"), KEPT)
    assert places(found) == {"h21 07 m31", "d21 q30"}


def test_a_sample_at_the_end_of_a_slot_belongs_to_it() -> None:
    found = rows_of((sample("21 07:00", "21 07:00"),), None, KEPT)
    assert places(found) == {"h21 06 m59", "d21 q27"}


def test_a_long_sample_stands_in_the_first_slot_of_each_later_row() -> None:
    found = rows_of((sample("21 22:31:10", "22 01:00"),), sample("22 03:00", "22 03:00"), KEPT)
    assert places(found) == {"h21 22 m31", "h21 23 m00", "h22 00 m00", "d21 q90", "d22 q00"}


def test_a_follower_in_the_first_slot_of_a_row_has_it_to_itself() -> None:
    found = rows_of((sample("21 06:31:10", "21 07:00:20"),), sample("21 07:00:40", "21 07:00:40"), KEPT)
    assert places(found) == {"h21 06 m31", "d21 q26"}


def test_samples_before_the_retention_of_rows_are_not_written() -> None:
    found = rows_of((sample("01 00:10", "21 07:00"),), sample("21 07:30", "21 07:30"), KEPT)
    hours = sorted(place for place in places(found) if place[0] == "h")
    assert (hours[0], hours[-1], len(hours)) == ("h14 07 m00", "h21 06 m00", 7 * 24)
    assert {"d01 q00", "d02 q00", "d21 q00"} <= places(found)


@given(st.lists(st.integers(0, 400), min_size=2, max_size=30), st.lists(st.integers(0, 20_000), min_size=30))
def test_no_two_samples_want_the_same_slot(gaps: list[int], holds: list[int]) -> None:
    """This holds for any later samples and any age, so rows may be written in any order, and again."""
    begun, samples = at("20 05:59:30"), list[JobSample]()
    for number, (gap, hold) in enumerate(zip(gaps, holds, strict=False)):
        begun += gap * 7_000
        samples.append(JobSample(begun, begun + hold * 1_000, None, TaskCounts(number)))
    written = [rows_of((one,), following, KEPT) for one, following in pairwise(samples)]
    places = [(row, column) for rows in written for row, columns in rows.items() for column in columns]
    assert len(places) == len(set(places))
    for grain in (MINUTES, QUARTERS):
        begun_in = {grain.slot(one.at) for one in samples} - {grain.slot(samples[-1].at)}
        assert {(grain.row(slot), grain.column(slot)) for slot in begun_in} <= set(places)
