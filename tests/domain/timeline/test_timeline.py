"""Timelines against a count of every millisecond."""

from collections import defaultdict
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import FAILURE, RUNNING, Task
from shared.domain.timeline.timeline import Node, Run, RunStatistics, Window, runs_of
from shared.domain.timeline.timeline_buckets import NodeBuckets
from tests.domain.support.task_strategies import distinct, tasks_with

NODES = [("pool", "a"), ("pool", "b"), ("other", "a"), ("", "")]
moments = st.sampled_from([0, *range(1, 13), *range(1, 13)])
tasks = tasks_with(
    id=st.text("abc01", min_size=1, max_size=4),
    state=st.integers(0, 3),
    result=st.integers(0, 2),
    transition=moments,
    start=moments,
    end=moments,
    slots=st.integers(1, 3),
    node=st.sampled_from(NODES),
)
many = st.lists(tasks, min_size=5, max_size=30).map(distinct)
windows = st.builds(
    lambda start, length, known: Window(start, start + length, known), st.integers(1, 8), st.integers(1, 8), moments
)


def end_of(window: Window) -> int:
    assert window.end is not None
    return window.end


def extent(task: Task, known: int) -> tuple[int, int]:
    """Returns the start and end of a task's run."""
    if task.state == RUNNING:
        return task.start, max(task.start, known)
    return task.start, max(task.start, task.end or task.transition)


def is_there(task: Task, window: Window) -> bool:
    """Returns True if a task ran in a window, even for no time."""
    start, end = extent(task, window.known)
    low = start if window.start is None else window.start
    return task.start > 0 and bool({start, *range(start, end)} & set(range(low, end_of(window))))


def busy(task: Task, low: int, high: int, known: int) -> int:
    start, end = extent(task, known)
    return task.slots * len(set(range(start, end)) & set(range(low, high))) if task.start else 0


def by_node(rows: list[Task], window: Window) -> dict[Node, list[Task]]:
    found = defaultdict(list)
    for task in rows:
        if is_there(task, window):
            found[task.node].append(task)
    return found


def census_of(rows: list[Task], window: Window, *, max_runs: int = 100) -> RunStatistics:
    census = RunStatistics(window, max_runs=max_runs)
    for at in range(0, len(rows), 7):
        leaf = Leaf(rows[at : at + 7])
        census.take(runs_of(leaf, range(len(leaf))))
    return census


def buckets_of(rows: list[Task], census: RunStatistics, window: Window, *, nodes: int, most: int) -> NodeBuckets:
    buckets = NodeBuckets(census.start, census.end, window.known, census.busiest(nodes), most=most)
    leaf = Leaf(rows)
    buckets.take(runs_of(leaf, range(len(leaf))))
    return buckets


@given(rows=many, window=windows, from_first=st.booleans())
def test_few_runs_are_shown_one_by_one(*, rows: list[Task], window: Window, from_first: bool) -> None:
    window = replace(window, start=None) if from_first else window
    census, expected = census_of(rows, window), by_node(rows, window)
    shown = {node.node: node for node in census.nodes()}
    starts = [task.start for found in expected.values() for task in found]
    assert census.start == (min(starts, default=end_of(window)) if from_first else window.start)
    assert not census.is_full
    assert {node: [run.task for run in found.runs] for node, found in shown.items()} == {
        node: [task.id for task in sorted(found, key=lambda task: (task.start, task.id))]
        for node, found in expected.items()
    }
    for node, found in expected.items():
        assert shown[node].busy == sum(busy(task, census.start, end_of(window), window.known) for task in found)
        ends = {task.id: None if task.state == RUNNING else extent(task, 0)[1] for task in found}
        assert {run.task: run.end for run in shown[node].runs} == ends


@given(many, windows, st.integers(1, 12))
def test_many_runs_are_added_up_to_the_millisecond(rows: list[Task], window: Window, most: int) -> None:
    census, expected = census_of(rows, window), by_node(rows, window)
    shown = buckets_of(rows, census, window, nodes=100, most=most).nodes()
    assert {node.node for node in shown} == set(expected)
    for node in shown:
        found = expected[node.node]
        assert node.busy == sum(busy(task, census.start, end_of(window), window.known) for task in found)
        assert len(node.buckets) <= most
        for bucket in node.buckets:
            part = Window(bucket.start, bucket.end, window.known)
            assert bucket.busy == sum(busy(task, bucket.start, bucket.end, window.known) for task in found)
            assert bucket.tasks == sum(is_there(task, part) for task in found) > 0
        failed = [task for task in found if task.result == FAILURE and task.state != RUNNING]
        ended = [task for task in failed if extent(task, 0)[1] <= end_of(window)]
        assert sum(bucket.failed for bucket in node.buckets) == len(ended)
        assert all(bucket.failed <= bucket.tasks for bucket in node.buckets)


@given(many, windows, st.integers(1, 12))
def test_buckets_are_equal_parts_of_the_window_without_the_idle_ones(
    rows: list[Task], window: Window, most: int
) -> None:
    census = census_of(rows, window)
    start = census.start
    width = -(-(end_of(window) - start) // most)
    for node in buckets_of(rows, census, window, nodes=100, most=most).nodes():
        for bucket in node.buckets:
            assert (bucket.start - start) % width == 0
            assert bucket.end == min(bucket.start + width, end_of(window))


@given(many, windows, st.integers(0, 4))
def test_the_busiest_nodes_are_shown_and_the_rest_counted(rows: list[Task], window: Window, most: int) -> None:
    census, expected = census_of(rows, window), by_node(rows, window)
    totals = {
        node: sum(busy(task, census.start, end_of(window), window.known) for task in found)
        for node, found in expected.items()
    }
    best = sorted(totals, key=lambda node: (-totals[node], node))[:most]
    assert [node.node for node in census.nodes(most)] == best
    assert [node.node for node in buckets_of(rows, census, window, nodes=most, most=5).nodes()] == best
    assert census.other_nodes(most) == len(totals) - len(best)


@given(many, moments, moments)
def test_a_window_without_an_end_leaves_nothing_out_that_is_known(rows: list[Task], start: int, known: int) -> None:
    open_window = Window(start, None, known)
    census = census_of(rows, open_window)
    closed = Window(start, 1000, known)
    assert {run.task for node in census.nodes() for run in node.runs} == {
        task.id for found in by_node(rows, closed).values() for task in found
    }
    ran = [extent(task, known) for found in by_node(rows, closed).values() for task in found]
    assert census.end == max([start, known, *(max(end, begun + 1) for begun, end in ran)])
    if ran:
        shown = buckets_of(rows, census, open_window, nodes=100, most=5).nodes()
        assert {node.node: node.busy for node in shown} == {node.node: node.busy for node in census.nodes()}


def test_a_run_that_began_on_a_node_whose_clock_is_ahead_is_shown() -> None:
    rows = [Task("a", RUNNING, transition=60, start=60, node=("pool", "a"))]
    census = census_of(rows, Window(None, None, 50))
    assert [run.task for run in census.nodes()[0].runs] == ["a"]
    assert (census.start, census.end) == (60, 61)


def test_a_census_keeps_no_runs_once_there_are_too_many() -> None:
    rows = [Task(f"task-{number:02}", 3, start=1, end=2, node=("pool", "a")) for number in range(21)]
    assert not census_of(rows[:20], Window(None, 5, 5), max_runs=20).is_full
    census = census_of(rows, Window(None, 5, 5), max_runs=20)
    assert census.is_full
    assert census.busiest() == [("pool", "a")]
    assert census._runs == []


def test_a_task_that_left_its_node_without_an_end_ran_until_it_changed_its_state() -> None:
    leaf = Leaf([Task("a", 0, transition=50, start=10, node=("pool", "a")), Task("b", 2, transition=10, start=10)])
    assert list(runs_of(leaf, range(2))) == [
        Run(10, "a", 50, 0, 1, ("pool", "a")),
        Run(10, "b", None, 0, 1, ("", "")),
    ]


def test_runs_of_some_places_are_left_out() -> None:
    leaf = Leaf([Task(name, 3, start=1 + at, end=9, node=("pool", "a")) for at, name in enumerate("abcdef")])
    assert [run.task for run in runs_of(leaf, range(1, 5), without={0, 2, 4, 5})] == ["b", "d"]
