"""Runs that go on for longer than hours are open have the outcome with which they end, in all of their hours."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from shared.domain.cost.busy_nodes import HOUR, TaskUsageByHour
from shared.domain.cost.day_rollups import (
    EndedTime,
    NodeKinds,
    day_tasks,
    kept_hours,
    kept_jobs,
    settled_hours,
    usage_by_hour,
    with_ended,
)
from shared.domain.cost.usage_days import DAY, HOURS, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay, summed
from shared.domain.tasks.tasks import FAILURE, SUCCESS
from shared.domain.timeline.timeline import Run
from shared.domain.usage.usage_ledger import UsageHours, UsageKind

_DAY = 20_000
_START = _DAY * DAY
_KIND = NodeKind("standard_d2s_v5", True)
_MINUTE = 60_000
_JOB_KEY = JobUsageKey("p", _KIND, "running")


def run(start: float, end: float, result: int, node: str = "n_d") -> Run:
    """Returns a run between hours of the day."""
    return Run(_START + int(start * HOUR), "t", _START + int(end * HOUR), result, 1, ("P", node))


def ledger(nodes: int, until: int) -> UsageHours:
    kind = UsageKind("running", True, _KIND.vm_size)
    return {hour: {kind: nodes * HOUR} for hour in range(_START // HOUR, until // HOUR + 1)}


def rolled_up(day: UsageDay, runs: Sequence[Run], now: int, nodes: int) -> tuple[UsageDay, dict[EndedTime, int]]:
    """Returns a day as housekeeping makes it at a time, when runs that end later still run."""
    settled, known = settled_hours(day, now), min(now, (day.day + 1) * DAY)
    left = range(day.day * HOURS + day.settled, (day.day + 1) * HOURS)
    usage = TaskUsageByHour(left, known, lambda _: False, now=now)
    seen = [one if one.end and one.end <= now else one._replace(end=None) for one in runs if one.start < now]
    usage.take("job", seen)
    tasks = day_tasks(usage, {"p": NodeKinds({}, frozenset({_KIND}))}, settled=settled)
    before = with_ended(day, tasks.ended)
    made = usage_by_hour(ledger(nodes, now), tasks.pools.get("p", {}), day.day, 1)
    hours = kept_hours(before, "p", made, _START)
    pool = PoolDay("P", 1, None, None, None, summed(hours.values()))
    jobs = kept_jobs(before, tasks, {"job": "job"})
    return replace(day, pools={"p": pool}, hours={"p": hours}, jobs=jobs, settled=settled), dict(tasks.ended)


def hourly(runs: Sequence[Run], *, nodes: int, until: int, minute: int = 17) -> UsageDay:
    """Returns a day that was made each hour, at a minute, so many times."""
    day = UsageDay(_DAY, 0)
    for hour in range(1, until):
        day, _ = rolled_up(day, runs, _START + hour * HOUR + minute * _MINUTE, nodes)
    return day


def by_outcome(day: UsageDay) -> dict[str, float]:
    """Returns the hours that the job held by outcome, which are those of its pool."""
    of_job = Counter[str]()
    for key, units in day.jobs["job"].units.items():
        of_job[key.outcome] += units
    classes = day.pools["p"].units[_KIND]
    assert {name: classes.get(name, 0) for name in of_job} == of_job
    assert not any(units < 0 for units in classes.values())
    return {name: units / HOUR for name, units in of_job.items() if units}


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
    day = UsageDay(_DAY, 0)
    for hour in range(21, 26):
        day, ended = rolled_up(day, [long], _START + hour * HOUR + 17 * _MINUTE, 1)
        assert not ended
    assert by_outcome(day) == {"running": 3.5}
    following, late = UsageDay(_DAY + 1, 0), dict[EndedTime, int]()
    for hour in range(25, 36):
        following, ended = rolled_up(following, [long], _START + hour * HOUR + 17 * _MINUTE, 1)
        late |= {one: units for one, units in ended.items() if one.hour // HOURS == _DAY}
    assert by_outcome(following) == {"failed": 6.25}
    assert by_outcome(with_ended(day, late)) == {"failed": 3.5}


def test_no_more_time_gets_an_outcome_than_runs_had() -> None:
    hours = {"p": {3: {_KIND: {"running": 40, "idle": 20}}}}
    day = UsageDay(_DAY, 0, hours=hours, jobs={"job": JobDay("job", {_JOB_KEY: 30}, {_JOB_KEY: 5})}, settled=9)
    day = replace(day, pools={"p": PoolDay("P", 1, None, None, None, summed(hours["p"].values()))})
    failed = _JOB_KEY._replace(outcome="failed")
    found = with_ended(day, {EndedTime(_DAY * HOURS + 3, "job", failed): 90})
    assert found.hours == {"p": {3: {_KIND: {"failed": 40, "idle": 20}}}}
    assert found.pools["p"].units == {_KIND: {"failed": 40, "idle": 20}}
    assert found.jobs == {"job": JobDay("job", {failed: 30}, {_JOB_KEY: 5})}
    assert with_ended(day, {EndedTime(_DAY * HOURS + 30, "job", failed): 90}) is day
    gone = {EndedTime(_DAY * HOURS + 3, "other", failed._replace(pool="q")): 90}
    assert with_ended(day, gone) == day
