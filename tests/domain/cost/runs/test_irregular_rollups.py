"""Days that are rolled up at any times, with gaps, and with nodes that weren't listed for a while."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.busy_nodes import HOUR
from shared.domain.cost.usage_days import UsageDay
from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Run
from tests.domain.cost.runs.rolled_days import (
    DAY_NUMBER,
    KIND,
    MINUTE,
    START,
    Polled,
    by_outcome,
    held,
    refreshed,
    rolled_up,
    run,
)

_OUTCOMES = {SUCCESS: "succeeded", FAILURE: "failed"}


def made(runs: Sequence[Run], minutes: Sequence[int], stuck: range = range(0), day: UsageDay | None = None) -> UsageDay:
    """Returns a day as it was made in minutes of the day; nodes weren't listed in those that are `stuck`."""
    day = day or UsageDay(DAY_NUMBER, 0)
    for minute in minutes:
        listed = stuck.start if minute in stuck else minute
        day, _ = rolled_up(day, {"job": runs}, START + minute * MINUTE, 2, Polled(START + listed * MINUTE))
    return day


def hourly(*, without: range = range(0), minute: int = 17) -> list[int]:
    """Returns the minutes of a day's roll-ups, one each hour but for some."""
    return [hour * 60 + minute for hour in range(1, 29) if hour not in without]


@pytest.mark.parametrize("end", [12.05, 12.2, 12.5, 12.9])
@pytest.mark.parametrize("missed", [range(10, 12), range(10, 13), range(10, 16), range(10, 24)])
def test_hours_that_are_settled_after_missed_roll_ups_give_a_run_its_time_once(missed: range, end: float) -> None:
    runs = [run(5, end, FAILURE), run(5, 30, SUCCESS, "m_d")]
    day = made(runs, hourly(without=missed))
    assert by_outcome(day) == {"failed": pytest.approx(end - 5), "running": 19}


def test_hours_that_are_settled_once_nodes_are_listed_again_give_a_run_its_time_once() -> None:
    runs = [run(8, 15.5, FAILURE), run(8, 30, SUCCESS, "m_d")]
    day = made(runs, hourly(), range(10 * 60, 16 * 60))
    assert by_outcome(day) == {"failed": 7.5, "running": 16}


@pytest.mark.parametrize("end", [11.1, 11.5, 11.9])
def test_nodes_that_were_listed_just_before_the_hour_change_nothing(end: float) -> None:
    runs, day = [run(5, end, FAILURE), run(5, 30, SUCCESS, "m_d")], UsageDay(DAY_NUMBER, 0)
    for minute in hourly(minute=0):
        day = made(runs, [minute], range(minute - 1, minute + 1), day)
    assert by_outcome(day) == {"failed": pytest.approx(end - 5), "running": 19}


def test_hours_that_an_earlier_version_settled_regularly_get_the_outcome() -> None:
    runs = [run(5, 12.5, FAILURE), run(5, 30, SUCCESS, "m_d")]
    early, late = hourly()[:10], hourly()[10:]
    day = replace(made(runs, early), outcomes_as_of=())
    assert by_outcome(made(runs, late, day=day)) == {"failed": 7.5, "running": 19}


_RUNS = st.lists(
    st.tuples(st.integers(0, 24 * 60 - 1), st.integers(1, 20 * 60), st.sampled_from((SUCCESS, FAILURE))), max_size=8
).map(
    lambda found: [
        run(start / 60, (start + minutes) / 60, result, f"n{number}_d")
        for number, (start, minutes, result) in enumerate(found)
    ]
)


def truth(runs: Sequence[Run], at: int) -> Mapping[str, int]:
    """Returns the milliseconds that runs took until a time, by the outcome that they had then."""
    found = Counter[str]()
    for one in runs:
        assert one.end is not None
        outcome = _OUTCOMES[one.result] if one.end <= at else "running"
        found[outcome] += max(min(one.end, at) - one.start, 0)
    return dict(+found)


_OUTAGE = st.tuples(st.integers(0, 40 * 60), st.integers(0, 8 * 60))


def last_poll(minute: int, outage: tuple[int, int]) -> int:
    """Returns when nodes or tasks were read last, at a minute, with an outage from one on that lasted for some."""
    start, length = outage
    return START + (start if start <= minute < start + length else minute) * MINUTE


@given(_RUNS, _RUNS, st.lists(st.integers(1, 50 * 60), max_size=20), st.tuples(_OUTAGE, _OUTAGE, _OUTAGE))
def test_outcomes_are_true_whenever_days_are_made_and_nodes_and_tasks_read(
    some: list[Run],
    others: list[Run],
    minutes: list[int],
    outages: Sequence[tuple[int, int]],
) -> None:
    others = [one._replace(node=("P", f"m{number}_d")) for number, one in enumerate(others)]
    days, jobs = [UsageDay(DAY_NUMBER, 0), UsageDay(DAY_NUMBER + 1, 0)], {"a": some, "b": others}
    for minute in sorted({*minutes, 50 * 60}):
        now, (listed, *read) = START + minute * MINUTE, [last_poll(minute, outage) for outage in outages]
        polled = Polled(listed, dict(zip(jobs, read, strict=True)))
        days = refreshed(days, jobs, now, len(some + others), polled)
        for job, runs in jobs.items():
            known, found = truth(runs, now), sum((Counter(held(day, job)) for day in days), Counter[str]())
            assert all(found[one] <= known.get(one, 0) for one in _OUTCOMES.values())
            assert minute < 50 * 60 or found == known
    for day in days:
        by_outcome(day)


@pytest.mark.parametrize("ends", [2.5, 2.9, 4.2, 5.9])
@pytest.mark.parametrize("missed", [range(3, 3), range(3, 7)])
def test_runs_go_on_for_as_long_as_their_tasks_are_known(ends: float, missed: range) -> None:
    runs, other = [run(1.5, ends, FAILURE)], [run(1.5, 30, SUCCESS, "m_d")]
    days, since, until = [UsageDay(DAY_NUMBER, 0)], 2 * 60 + 10, 6 * 60
    for minute in hourly(without=missed):
        read = START + (since if since <= minute < until else minute) * MINUTE
        now = START + minute * MINUTE
        days = refreshed(days, {"job": runs, "other": other}, now, 2, Polled(now, {"job": read}))
        if since <= minute < until:
            assert held(days[0], "job") == {"running": read - runs[0].start}
            assert days[0].pools["p"].units[KIND]["unattributed"] == 3 * HOUR + now - read
    assert held(days[0], "job") == {"failed": pytest.approx((ends - 1.5) * HOUR, abs=1)}
    assert held(days[0], "other") == {"running": 22.5 * HOUR}
