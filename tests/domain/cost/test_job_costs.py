"""What a task costs, and what a job will have cost at its end."""

from decimal import Decimal

import pytest

from shared.domain.cost.cost_groups import CostSum
from shared.domain.cost.job_costs import job_forecast, task_cost
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.tasks import TaskCounts


def _sum(**amounts: str) -> CostSum:
    found = CostSum()
    found.amounts.update({name: Decimal(amount) for name, amount in amounts.items()})
    return found


def test_a_task_costs_what_tasks_held_divided_by_those_that_completed() -> None:
    found = task_cost(_sum(succeeded="15", failed="5", idle="100"), TaskCounts(completed=20), Histogram.of([1000] * 20))
    assert found is not None
    assert found.mean == Decimal(1)
    assert [float(found.p50), float(found.p95)] == pytest.approx([1, 1], rel=0.02)


def test_tasks_that_go_on_cost_no_completed_task_anything() -> None:
    counts, runs = TaskCounts(running=90, completed=10), Histogram.of([60] * 10)
    found = task_cost(_sum(succeeded="10", running="5400"), counts, runs)
    assert found is not None
    assert found.mean == Decimal(1)
    assert job_forecast(_sum(succeeded="10", running="5400"), counts, found).amount == Decimal(5410)
    assert task_cost(_sum(running="5400"), counts, runs) is None


def test_quantiles_of_cost_are_those_of_run_times() -> None:
    runs = Histogram.of([100] * 80 + [1000] * 20)
    found = task_cost(_sum(succeeded="28"), TaskCounts(completed=100), runs)
    assert found is not None
    assert [float(found.p50), float(found.p95)] == pytest.approx([0.1, 1], rel=0.02)


@pytest.mark.parametrize(
    ("amounts", "completed"), [({"succeeded": "1"}, 9), ({"idle": "1"}, 20), ({}, 20)], ids=["few", "none held", "free"]
)
def test_no_task_has_a_cost_before_ten_completed_or_without_a_price(amounts: dict[str, str], completed: int) -> None:
    runs = Histogram.of([5] * completed)
    assert task_cost(_sum(**amounts), TaskCounts(completed=completed), runs) is None


def test_no_task_has_a_cost_where_part_of_the_jobs_time_has_no_price() -> None:
    found, runs = _sum(succeeded="20"), Histogram.of([5] * 20)
    assert task_cost(found, TaskCounts(completed=20), runs) is not None
    found.unpriced_times["idle"] = 1
    assert task_cost(found, TaskCounts(completed=20), runs) is None


def test_a_forecast_has_each_task_left_as_the_mean_within_a_band_and_never_less_than_is_known() -> None:
    counts, runs = TaskCounts(active=70, running=10, completed=20), Histogram.of([100] * 16 + [1000] * 4)
    held = _sum(succeeded="20", running="2")
    task = task_cost(held, counts, runs)
    assert task is not None
    found = job_forecast(held, counts, task)
    assert (found.amount, found.tasks_left) == (Decimal(100), 80)
    assert found.low < found.amount < found.high
    late = job_forecast(_sum(succeeded="1", running="500"), TaskCounts(running=1, completed=20), task)
    assert (late.amount, late.low) == (Decimal(501), Decimal(501))
