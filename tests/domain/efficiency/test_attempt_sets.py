"""Sets of measured runs: the same in any order, with any repetition."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.efficiency.attempt_sets import AttemptSet, day_of
from shared.domain.efficiency.task_groups import groups_of
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from tests.domain.efficiency.measured_jobs import run, runs

_distinct = st.lists(runs, unique_by=lambda one: (one.task.lower(), one.start))


@given(_distinct, st.lists(st.integers(0, 30), max_size=20))
def test_repetitions_in_any_order_change_nothing(some: Sequence[MeasuredAttempt], again: Sequence[int]) -> None:
    found = AttemptSet()
    for one in reversed(some):
        found = found.with_runs([one])
    for number in again:
        found = found.with_runs(some[number : number + 3])
    assert found == AttemptSet().with_runs(some)
    assert found.with_runs(some) is found
    assert found.groups() == groups_of(some)
    assert AttemptSet.of_plain(found.plain()) == found


def test_runs_that_started_earlier_are_left_out() -> None:
    early, late = run(1), run(2)
    found = AttemptSet().with_runs([early, late])
    assert found.groups(late.start) == groups_of([late])
    assert day_of(early) == early.start // 86_400
