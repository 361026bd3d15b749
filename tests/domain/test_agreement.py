"""When a difference from Get Task Counts is movement, and when it is drift."""

from datetime import UTC, datetime

from shared.domain.jobs import Agreement
from shared.domain.tasks import TaskCounts

NOW = datetime(2026, 11, 21, 8, tzinfo=UTC)


def _done(completed: int, *, total: int = 100) -> TaskCounts:
    return TaskCounts(active=total - completed, completed=completed, succeeded=completed)


def test_equal_counts_agree_and_forget_what_was_before() -> None:
    assert Agreement(None, 5, _done(1)).compared(_done(7), _done(7), NOW) == Agreement(at=NOW)


def test_preparing_tasks_count_as_running_there() -> None:
    cached, service = TaskCounts(preparing=2, running=3), TaskCounts(running=5)
    assert Agreement().compared(cached, service, NOW).at == NOW


def test_differences_of_a_job_that_moves_on_do_not_add_up() -> None:
    agreement, before = Agreement(at=NOW), _done(0)
    for step in range(10, 90, 10):
        agreement = agreement.compared(_done(step), _done(step + 3), NOW, before=before)
        before = _done(step)
        assert agreement.disagreements == 1
    assert agreement.at == NOW


def test_a_task_too_many_adds_up_however_much_the_job_moves() -> None:
    agreement, before = Agreement(at=NOW), _done(0, total=101)
    for step in range(10, 90, 10):
        cached = _done(step, total=101)
        agreement = agreement.compared(cached, _done(step + 3), NOW, before=before)
        before = cached
    assert agreement.disagreements == 8


def test_a_difference_of_a_quiet_job_adds_up() -> None:
    agreement = Agreement()
    for _ in range(3):
        agreement = agreement.compared(_done(5), _done(6), NOW, before=_done(5))
    assert agreement.disagreements == 3
