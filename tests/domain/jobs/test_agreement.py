"""When a difference from Get Task Counts is explained by movement."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.jobs.snapshots import Agreement
from shared.domain.tasks.tasks import TaskCounts, lies_between

NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)


def done(completed: int, *, total: int = 100) -> TaskCounts:
    return TaskCounts(active=total - completed, completed=completed, succeeded=completed)


def test_differences_add_up_and_keep_the_last_agreement() -> None:
    agreement = Agreement(NOW).differed(done(1)).differed(done(2))
    assert agreement == Agreement(NOW, 2, done(2))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 100))
def test_counts_between_two_reads_of_a_moving_job_lie_between_them(first: int, more: int, asked: int) -> None:
    assert lies_between(done(asked), done(first), done(first + more)) == (first <= asked <= first + more)


def test_a_task_too_many_is_no_movement_of_a_moving_job() -> None:
    assert not lies_between(done(15), done(10, total=101), done(20, total=101))


def test_running_tasks_may_go_up_and_down_in_between() -> None:
    before, after = TaskCounts(active=5, running=1), TaskCounts(active=3, running=3)
    assert lies_between(TaskCounts(active=3, running=9 - 6), before, after)
    assert not lies_between(TaskCounts(active=6), before, after)
