"""Busy time of nodes and slots held by tasks, against sums over single milliseconds."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.cost.busy_nodes import SlotHolder, TaskUsage, UnionOfIntervals, outcome_of
from shared.domain.tasks.tasks import FAILURE, NO_RESULT, SUCCESS
from shared.domain.timeline.timeline import Run, Window

_TIME = st.integers(0, 60)


@given(st.lists(st.tuples(_TIME, _TIME)))
def test_a_union_is_as_long_as_the_set_of_its_milliseconds(intervals: list[tuple[int, int]]) -> None:
    union = UnionOfIntervals()
    for start, end in intervals:
        union.add(start, end)
    assert union.length == len({at for start, end in intervals for at in range(start, end)})


@st.composite
def _runs(draw: st.DrawFn) -> Run:
    start = draw(_TIME)
    end = draw(st.none() | st.integers(start, 80))
    result = NO_RESULT if end is None else draw(st.sampled_from((NO_RESULT, SUCCESS, FAILURE)))
    node = draw(st.sampled_from((("wide", "n1"), ("wide", "n2"), ("narrow", "n3"))))
    return Run(start, "t", end, result, draw(st.integers(1, 3)) if node[0] == "wide" else 1, node)


_RUNS = st.lists(st.tuples(st.sampled_from("ab"), _runs(), st.integers(1, 4)))


@given(_RUNS, _TIME, st.integers(1, 40), st.integers(0, 90))
def test_slots_and_busy_time_are_those_of_each_millisecond(
    runs: list[tuple[str, Run, int]], begin: int, length: int, known: int
) -> None:
    usage = TaskUsage(Window(begin, begin + length, known), lambda pool: pool == "narrow")
    for job, run, instances in runs:
        usage.add(job, run, outcome_of(run), instances)
    held, busy, others = Counter[str](), Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    sets: dict[tuple[str, str], set[int]] = {}
    for job, run, instances in runs:
        shown = range(max(run.start, begin), min(known if run.end is None else run.end, begin + length))
        held[job] += len(shown) * run.slots * instances
        others[run.node] += len(shown) * (instances - 1)
        sets.setdefault(run.node, set()).update(shown)
        busy[run.node] += len(shown)
    assert {job: units for job, units in held.items() if units} == _by_job(usage)
    for node, time in usage.busy().items():
        assert time == (busy[node] if node[0] == "narrow" else len(sets[node]))
    assert +usage.others == +others


def test_a_run_counts_by_its_outcome() -> None:
    usage = TaskUsage(Window(0, 100, 50), lambda _: True)
    node = ("p", "n")
    for end, result in ((10, SUCCESS), (20, FAILURE), (30, NO_RESULT), (None, NO_RESULT)):
        usage.take("j", [Run(0, "t", end, result, 2, node)])
    assert {holder.outcome: units for holder, units in usage.slots.items()} == {
        "succeeded": 20,
        "failed": 40,
        "interrupted": 60,
        "running": 100,
    }
    assert SlotHolder("j", node, "failed") in usage.slots


def _by_job(usage: TaskUsage) -> dict[str, int]:
    found = Counter[str]()
    for holder, units in usage.slots.items():
        found[holder.job] += units
    return {job: units for job, units in found.items() if units}
