"""Runs that go on for longer than hours are open have the outcome with which they end, in all of their hours."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.domain.cost.busy_nodes import HOUR
from shared.domain.cost.day_rollups import EndedTime, with_ended
from shared.domain.cost.usage_days import HOURS, JobDay, JobUsageKey, PoolDay, UsageDay, summed
from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Run
from tests.domain.cost.runs.rolled_days import DAY_NUMBER, KIND, MINUTE, START, by_outcome, rolled_up, run

_JOB_KEY = JobUsageKey("p", KIND, "running")


def hourly(runs: Sequence[Run], *, nodes: int, until: int, minute: int = 17) -> UsageDay:
    """Returns a day that was made each hour, at a minute, so many times."""
    day = UsageDay(DAY_NUMBER, 0)
    for hour in range(1, until):
        day, _ = rolled_up(day, {"job": runs}, START + hour * HOUR + minute * MINUTE, nodes)
    return day


@pytest.mark.parametrize("minute", [0, 17, 59])
@pytest.mark.parametrize("length", [0.5, 1.9, 3.2, 10.25, 11.0])
def test_a_run_that_fails_after_hours_failed_in_all_of_them(length: float, minute: int) -> None:
    day = hourly([run(0.6, 0.6 + length, FAILURE)], nodes=1, until=20, minute=minute)
    assert by_outcome(day) == {"failed": pytest.approx(length, abs=1e-6)}


def test_runs_that_go_on_beside_it_are_still_running() -> None:
    runs = [
        run(0.5, 9.25, FAILURE),
        run(0.5, 30, SUCCESS, "m_d"),
        run(3, 8.5, SUCCESS, "o_d"),
        run(8, 9, FAILURE, "q_d"),
    ]
    day = hourly(runs, nodes=4, until=20)
    held = by_outcome(day)
    assert held == {"failed": 9.75, "running": pytest.approx(19.2833 - 0.5, abs=1e-3), "succeeded": 5.5}


@pytest.mark.parametrize("minute", [0, 17, 59])
@pytest.mark.parametrize("end", [21.1, 21.9, 22.1, 22.9, 23.1, 23.9])
def test_a_run_that_ends_late_in_a_day_takes_nothing_from_one_that_goes_on_beside_it(end: float, minute: int) -> None:
    day = hourly([run(15, end, FAILURE), run(15, 30, SUCCESS, "m_d")], nodes=2, until=29, minute=minute)
    assert by_outcome(day) == {"failed": pytest.approx(end - 15), "running": 9}


def test_the_day_before_gets_the_outcome_of_runs_that_ended_after_midnight() -> None:
    long = run(20.5, 30.25, FAILURE)
    day = UsageDay(DAY_NUMBER, 0)
    for hour in range(21, 26):
        day, ended = rolled_up(day, {"job": [long]}, START + hour * HOUR + 17 * MINUTE, 1)
        assert not ended
    assert by_outcome(day) == {"running": 3.5}
    following, late = UsageDay(DAY_NUMBER + 1, 0), dict[EndedTime, int]()
    for hour in range(25, 36):
        following, ended = rolled_up(following, {"job": [long]}, START + hour * HOUR + 17 * MINUTE, 1)
        late |= {one: units for one, units in ended.items() if one.hour // HOURS == DAY_NUMBER}
    assert by_outcome(following) == {"failed": 6.25}
    assert by_outcome(with_ended(day, late)) == {"failed": 3.5}


def test_no_more_time_gets_an_outcome_than_runs_had() -> None:
    hours = {"p": {3: {KIND: {"running": 40, "idle": 20}}}}
    day = UsageDay(DAY_NUMBER, 0, hours=hours, jobs={"job": JobDay("job", {_JOB_KEY: 30}, {_JOB_KEY: 5})}, settled=9)
    day = replace(day, pools={"p": PoolDay("P", 1, None, None, None, summed(hours["p"].values()))})
    failed = _JOB_KEY._replace(outcome="failed")
    found = with_ended(day, {EndedTime(DAY_NUMBER * HOURS + 3, "job", failed, START + 8 * HOUR): 90})
    assert found.hours == {"p": {3: {KIND: {"failed": 30, "running": 10, "idle": 20}}}}
    assert found.pools["p"].units == {KIND: {"failed": 30, "running": 10, "idle": 20}}
    assert found.jobs == {"job": JobDay("job", {failed: 30}, {_JOB_KEY: 5})}
    assert with_ended(day, {EndedTime(DAY_NUMBER * HOURS + 30, "job", failed, START + 31 * HOUR): 90}) is day
    gone = {EndedTime(DAY_NUMBER * HOURS + 3, "other", failed._replace(pool="q"), START + 8 * HOUR): 90}
    assert with_ended(day, gone) is day
