"""What a task costs, and what a job will have cost at its end: both as of one roll-up."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.domain.cost.busy_nodes import HOUR, Outcome, RunSum, Settling, TaskUsageByHour
from shared.domain.cost.cost_groups import CostSum
from shared.domain.cost.day_rollups import DayTasks, NodeKinds, day_tasks
from shared.domain.cost.job_costs import (
    EndedRuns,
    Later,
    ended_as_of,
    ended_runs,
    expected_costs,
    held_amount,
    job_cost,
    job_forecast,
    task_cost,
)
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.runs.job_days import kept_jobs
from shared.domain.cost.usage_days import DAY, HOURS, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.job_statistics import MINUTE, JobStatistics, StoredJobStatistics
from shared.domain.tasks.tasks import SUCCESS, TaskCounts
from shared.domain.timeline.timeline import Run
from tests.domain.cost.runs.rolled_days import refreshed

_DAY, _KIND = 20_000, NodeKind("standard_d2s_v5", True)
_START = _DAY * DAY
_CREATED = _START // 1000
_NONE = Later(0, 0)
_KEY = JobUsageKey("p", _KIND, "succeeded")


def _prices(hourly: int = 1) -> PriceTable:
    begun = datetime(2020, 1, 1, tzinfo=UTC)
    meters = {MeterKey("linux", "dedicated"): (PriceInterval(Decimal(hourly), begun, None, "m"),)}
    history = PriceHistory("westeurope", "standard_d2s_v5", meters, {}, begun)
    return PriceTable("USD", histories={history.place: history})


def _day(job: JobDay, *, back: int = 0, slots: int = 1) -> PricedDay:
    units = {_KIND: {"succeeded": sum(job.units.values())}}
    pool = PoolDay("P", slots, "westeurope", "linux", "none", units)
    return PricedDay(UsageDay(_DAY - back, _START, {"p": pool}, jobs={"j": job}), _prices())


def _sum(**amounts: str) -> CostSum:
    found = CostSum()
    found.amounts.update({name: Decimal(amount) for name, amount in amounts.items()})
    return found


def _ended(amount: str, tasks: int) -> EndedRuns:
    return EndedRuns(Decimal(amount), tasks, is_priced=True, has_earlier=False)


def test_a_task_costs_what_ended_runs_held_divided_by_those_that_completed_one() -> None:
    counts, runs = TaskCounts(completed=20), Histogram.of([1000] * 20)
    found = task_cost(_sum(succeeded="20", idle="100"), _ended("20", 20), counts, runs)
    assert found is not None
    assert found.mean == Decimal(1)
    assert [float(found.p50), float(found.p95)] == pytest.approx([1, 1], rel=0.02)


def test_tasks_that_completed_since_the_roll_up_and_deleted_ones_change_no_mean() -> None:
    cost, ended = _sum(succeeded="10"), _ended("10", 10)
    for completed in (10, 66, 200):
        found = task_cost(cost, ended, TaskCounts(completed=completed), Histogram.of([120] * completed))
        assert found is not None
        assert found.mean == Decimal(1)
    few = task_cost(_sum(succeeded="60"), _ended("60", 60), TaskCounts(completed=12), Histogram.of([60] * 12))
    assert few is not None
    assert few.mean == Decimal(1)


def test_tasks_that_completed_without_a_run_cost_nothing() -> None:
    found = task_cost(_sum(succeeded="10"), _ended("10", 10), TaskCounts(completed=40), Histogram.of([60] * 20))
    assert found is not None
    assert found.mean == Decimal("0.5")
    assert float(found.p50) == pytest.approx(1, rel=0.03)


def test_quantiles_of_cost_are_those_of_run_times() -> None:
    runs = Histogram.of([100] * 80 + [1000] * 20)
    found = task_cost(_sum(succeeded="28"), _ended("28", 100), TaskCounts(completed=100), runs)
    assert found is not None
    assert [float(found.p50), float(found.p95)] == pytest.approx([0.1, 1], rel=0.02)


@pytest.mark.parametrize(("amount", "tasks"), [("1", 9), ("0", 20)], ids=["few", "free"])
def test_no_task_has_a_cost_before_ten_completed_or_without_money(amount: str, tasks: int) -> None:
    runs = Histogram.of([5] * 20)
    assert task_cost(_sum(succeeded=amount), _ended(amount, tasks), TaskCounts(completed=20), runs) is None


def test_no_task_has_a_cost_where_part_of_the_jobs_time_has_no_price() -> None:
    found, runs, counts = _sum(succeeded="20"), Histogram.of([5] * 20), TaskCounts(completed=20)
    assert task_cost(found, _ended("20", 20), counts, runs) is not None
    unpriced = EndedRuns(Decimal(20), 20, is_priced=False, has_earlier=False)
    assert task_cost(found, unpriced, counts, runs) is None
    found.unpriced_times["idle"] = 1
    assert task_cost(found, _ended("20", 20), counts, runs) is None


def test_a_forecast_has_each_task_left_as_the_mean_within_a_band_and_never_less_than_is_known() -> None:
    counts, runs = TaskCounts(active=70, running=10, completed=20), Histogram.of([100] * 16 + [1000] * 4)
    held, ended = _sum(succeeded="20", running="2"), _ended("20", 20)
    task = task_cost(held, ended, counts, runs)
    assert task is not None
    found = job_forecast(held, ended, counts, task, _NONE)
    assert (found.amount, found.tasks_left) == (Decimal(100), 80)
    assert found.low < found.amount < found.high
    late = job_forecast(_sum(succeeded="20", running="500"), ended, TaskCounts(running=1, completed=20), task, _NONE)
    assert (late.amount, late.low) == (Decimal(520), Decimal(520))


def test_a_forecast_is_that_of_the_roll_up_however_many_tasks_completed_since() -> None:
    held, ended = _sum(succeeded="10", running="3"), _ended("10", 10)
    for completed in (10, 66, 199):
        counts, runs = TaskCounts(active=200 - completed, completed=completed), Histogram.of([120] * completed)
        task = task_cost(held, ended, counts, runs)
        assert task is not None
        found = job_forecast(held, ended, counts, task, Later(completed - 12, completed - 9))
        assert (round(found.amount, 9), found.tasks_left) == (Decimal(200), 190)
        assert found.low <= found.amount <= found.high


def test_deleted_tasks_have_cost_what_they_cost_and_those_left_cost_as_they_did() -> None:
    held, ended, counts = _sum(succeeded="60"), _ended("60", 60), TaskCounts(active=3, completed=14)
    task = task_cost(held, ended, counts, Histogram.of([60] * 14))
    assert task is not None
    found = job_forecast(held, ended, counts, task, Later(2, 2))
    assert (found.amount, found.tasks_left) == (Decimal(65), 5)


def test_tasks_whose_ends_no_roll_up_saw_count_like_the_others() -> None:
    held, ended, counts = _sum(succeeded="40"), _ended("10", 10), TaskCounts(active=60, completed=40)
    task = task_cost(held, ended, counts, Histogram.of([60] * 40))
    assert task is not None
    found = job_forecast(held, ended, counts, task, _NONE)
    assert (found.amount, found.tasks_left) == (Decimal(100), 60)


def test_later_tasks_are_those_of_the_minutes_after_a_time_and_perhaps_of_its_own() -> None:
    statistics = JobStatistics(completions=((9, 1), (10, 2), (11, 4), (40, 8)))
    assert Later.than(10 * MINUTE + 5, statistics) == (12, 14)


@pytest.mark.parametrize("state", ["active", "disabled", "terminating", "deleting", "completed"])
def test_a_job_that_has_ended_or_is_about_to_has_no_forecast(state: str) -> None:
    begun = datetime.fromtimestamp(_CREATED, UTC)
    statistics = StoredJobStatistics.of(JobStatistics(runs=Histogram.of([1000] * 20)), b"origin")
    counts = TaskCounts(active=80, completed=20)
    snapshot = JobSnapshot("g", begun, "delta", counts, begun, begun, begun, statistics=statistics)
    task, forecast = expected_costs(
        _sum(succeeded="20"), _ended("20", 20), Job(JobFacts("J", begun, state, begun), snapshot), _START
    )
    assert task is not None
    assert (forecast.amount if forecast else None) == (Decimal(100) if state in {"active", "disabled"} else None)


def test_ended_runs_are_known_as_of_their_read_whenever_nodes_were_listed() -> None:
    days = [UsageDay(_DAY - 1, _START), UsageDay(_DAY, _START + 5, runs_as_of=_START + HOUR)]
    assert [ended_as_of(some) for some in (days, days[:1], [])] == [_START + HOUR, _START, 0]


def test_ended_runs_cost_their_whole_time_at_the_price_of_the_day_of_their_end() -> None:
    ends = {_KEY: RunSum(4, 8 * HOUR), _KEY._replace(outcome="retried"): RunSum(3, 6 * HOUR)}
    late = {_KEY._replace(outcome="failed"): RunSum(2, 10 * HOUR)}
    job = JobDay("J", {_KEY: HOUR}, {_KEY: HOUR}, ends, late, _CREATED)
    found = ended_runs([_day(JobDay("J", {_KEY: HOUR}), back=1), _day(job, slots=4)], "j", _CREATED)
    assert found == EndedRuns(Decimal(6), 6, is_priced=True, has_earlier=False)


def test_days_that_earlier_versions_rolled_up_have_no_ended_runs() -> None:
    assert ended_runs([_day(JobDay("J", {_KEY: HOUR}))], "j", _CREATED) == _ended("0", 0)


def test_ended_runs_on_nodes_without_a_price_are_named() -> None:
    for key in (_KEY._replace(kind=NodeKind("", True)), _KEY._replace(pool="gone")):
        job = JobDay("J", {_KEY: HOUR}, settled_ends={_KEY: RunSum(1, HOUR), key: RunSum(9, HOUR)}, created=_CREATED)
        assert not ended_runs([_day(job)], "j", _CREATED).is_priced


def test_runs_of_an_earlier_job_with_the_same_id_are_no_runs_of_this_one() -> None:
    earlier = JobDay("J", {_KEY: HOUR}, settled_ends={_KEY: RunSum(12, HOUR)}, created=_CREATED)
    assert ended_runs([_day(earlier)], "j", _CREATED + 7) == EndedRuns(Decimal(0), 0, is_priced=True, has_earlier=True)
    both = JobDay("J", {_KEY: HOUR}, settled_ends={_KEY: RunSum(5, HOUR)}, created=_CREATED + 7, has_earlier=True)
    assert ended_runs([_day(both)], "j", _CREATED + 7) == EndedRuns(Decimal(1), 5, is_priced=True, has_earlier=True)


_SPANS = st.lists(st.tuples(st.sampled_from((0, 5, 240)), st.integers(1, 600)), max_size=8)


def _runs(nodes: list[list[tuple[int, int]]]) -> list[Run]:
    """Returns runs that follow each other on nodes, given the minutes before each and its own."""
    found = list[Run]()
    for node, spans in enumerate(nodes):
        at = _START
        for gap, length in spans:
            at, end = at + gap * MINUTE, at + (gap + length) * MINUTE
            found.append(Run(at, f"t{len(found)}", end, SUCCESS, 1, ("P", f"n{node}_d")))
            at = end
    return found


_TIMES = st.lists(st.integers(1, 46 * HOUR), min_size=1, max_size=12, unique=True)


@example([[(240, 600), (0, 600), (5, 60)]], [number * HOUR for number in range(1, 28)])  # a run ends at midnight
@given(st.lists(_SPANS, max_size=3), _TIMES)
def test_roll_ups_at_any_times_count_each_ended_run_once_with_its_whole_time(
    nodes: list[list[tuple[int, int]]], times: list[int]
) -> None:
    runs, days = _runs(nodes), [UsageDay(_DAY + at, 0) for at in range(2)]
    for now in sorted(_START + time for time in times):
        days = refreshed(days, {"j": runs}, now, 3)
    over = [one for one in runs if one.end is not None and one.end <= now]
    priced = [PricedDay(replace(day, pools={"p": _pool(day)}), _prices()) for day in days if day.pools]
    found = ended_runs(priced, "j", _CREATED)
    assert found.tasks == len(over)
    time = sum((one.end or 0) - one.start for one in over)
    assert round(found.amount, 9) == round(Decimal(time) / HOUR, 9)
    assert held_amount(job_cost(priced, "j", "none").total) >= found.amount - Decimal("1e-9")


def _pool(day: UsageDay) -> PoolDay:
    """Returns the day's pool with what determines its prices."""
    return PoolDay("P", 1, "westeurope", "linux", "none", day.pools["p"].units)


@pytest.mark.parametrize("outcome", ["succeeded", "retried"])
def test_a_job_that_was_created_again_begins_its_ended_runs_anew(outcome: Outcome) -> None:
    key = _KEY._replace(outcome=outcome)
    old = JobDay("J", {key: 5}, {key: 1}, {key: RunSum(1, 5)}, {key: RunSum(2, 1)}, created=_CREATED)
    before, again = UsageDay(_DAY, 0, jobs={"j": old}, settled=3), _START + 4 * HOUR
    tasks = _tasks(3, again, (Run(again + 1, "new", again + 3, SUCCESS, 2, ("P", "n_d")), outcome))
    found = kept_jobs(before, tasks, {"j": "J"}, created={"j": again // 1000})["j"]
    assert (found.ends, found.created, found.has_earlier) == ({key: RunSum(1, 4)}, again // 1000, True)
    assert found.units == {key: 9}


@pytest.mark.parametrize("hours", [0, 4])
def test_ended_runs_that_only_events_showed_are_an_earlier_jobs_on_the_day_of_the_creation(hours: int) -> None:
    old = JobDay("J", {_KEY: 12 * HOUR}, settled_ends={_KEY: RunSum(12, 12 * HOUR)})
    before, created = UsageDay(_DAY, 0, jobs={"j": old}, settled=3), _START + hours * HOUR
    tasks = _tasks(
        3, created, (Run(_START + 4 * HOUR, "new", _START + 5 * HOUR, SUCCESS, 1, ("P", "n_d")), "succeeded")
    )
    found = kept_jobs(before, tasks, {"j": "J"}, created={"j": created // 1000})["j"]
    runs = 1 if hours else 13
    assert (found.ends, found.has_earlier) == ({_KEY: RunSum(runs, runs * HOUR)}, hours > 0)
    assert found.units == {_KEY: 13 * HOUR}
    runs = 0 if hours else 12
    assert ended_runs([_day(old)], "j", created // 1000) == replace(_ended(str(runs), runs), has_earlier=hours > 0)


def test_events_of_an_earlier_job_with_the_same_id_count_as_time_and_not_as_ended_runs() -> None:
    again = _START + 4 * HOUR
    old = Run(_START, "old", _START + HOUR, SUCCESS, 1, ("P", "n_d"))
    new = Run(again - 50, "new", again + 50, SUCCESS, 1, ("P", "n_d"))
    tasks = _tasks(0, again, (old, "succeeded"), (new, "succeeded"))
    found = kept_jobs(UsageDay(_DAY, 0), tasks, {"j": "J"}, created={"j": again // 1000})["j"]
    assert (found.ends, found.units, found.has_earlier) == ({_KEY: RunSum(1, 100)}, {_KEY: HOUR + 100}, True)


def _tasks(settled: int, created: int, *runs: tuple[Run, Outcome]) -> DayTasks:
    """Returns the tasks of a day, so many of its hours settled before, of a job created at a time."""
    hours = range(_DAY * HOURS + settled, (_DAY + 1) * HOURS)
    settles = Settling(hours.start, hours.start * HOUR)
    usage = TaskUsageByHour(hours, _START + DAY, lambda _: True, settles, created={"j": created // 1000})
    for run, outcome in runs:
        usage.add("j", run, outcome)
    return day_tasks(usage, {"p": NodeKinds({}, frozenset({_KIND}))})
