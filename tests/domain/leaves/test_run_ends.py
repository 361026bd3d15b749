"""The ends of retried runs that a leaf keeps: those that polls saw, the latest ones, in a bounded form."""

import pytest

from shared.domain.leaves.leaves import Leaf
from shared.domain.leaves.run_ends import KEPT, MAX_ENDS, RunEnds
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, PREPARING, RUNNING, SUCCESS, Task

_RUNS = Task("A", RUNNING, transition=10, creation=1, start=10)
_WAITS = Task("A", ACTIVE, transition=50, creation=1, retries=1)
_AGAIN = Task("A", RUNNING, transition=60, creation=1, start=60, retries=1)


@pytest.mark.parametrize(
    ("seen", "ends"),
    [
        ([_RUNS, _WAITS], {("a", 0): 50}),
        ([_RUNS, _WAITS, _WAITS, _AGAIN], {("a", 0): 50}),
        ([_WAITS], {("a", 0): 50}),
        ([_RUNS, _AGAIN], {}),
        ([_RUNS, _WAITS._replace(state=PREPARING)], {}),
        ([_RUNS, _WAITS._replace(state=PREPARING), _WAITS._replace(transition=70)], {}),
        ([_RUNS, _WAITS._replace(retries=3)], {("a", 2): 50}),
        ([_AGAIN, _WAITS._replace(transition=80)], {}),
        ([_AGAIN, _WAITS._replace(transition=80, creation=70)], {("a", 0): 80}),
        ([_AGAIN._replace(state=COMPLETED, result=FAILURE, transition=70), _WAITS._replace(transition=80)], {}),
        ([_RUNS, _RUNS._replace(state=COMPLETED, result=SUCCESS, transition=40)], {}),
    ],
)
def test_a_run_ended_when_its_task_was_seen_to_wait_with_more_retries(
    seen: list[Task], ends: dict[tuple[str, int], int]
) -> None:
    leaf = Leaf()
    for task in seen:
        leaf.fold([task])
    assert leaf.run_ends.times == ends


def test_only_the_latest_ends_are_kept() -> None:
    names = [f"{number:064}" for number in range(3 * MAX_ENDS)]
    ends = RunEnds().after([], [_WAITS._replace(id=name, transition=at) for at, name in enumerate(names)])
    assert list(ends.times) == [(name, 0) for name in names[-MAX_ENDS:]]
    late = RunEnds({("late", 0): KEPT + 2 * MAX_ENDS})
    assert next(iter(ends.joined(late).times)) == (names[2 * MAX_ENDS + 1], 0)


def test_packed_ends_fit_a_column_and_a_damaged_form_has_none() -> None:
    ends = RunEnds({(f"{number * 0x9E3779B97F4A7C15**4:064x}"[-64:], 9): 1 << 41 for number in range(MAX_ENDS)})
    packed = ends.pack()
    assert len(packed) <= 32 * 1024
    assert RunEnds.unpack(packed) == ends
    for damaged in (None, b"", b"xyz", b"ra 1", b"ra 1 b", packed[:-9]):
        assert RunEnds.unpack(damaged) == RunEnds()
