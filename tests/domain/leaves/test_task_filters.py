"""Filters over the columns of a leaf, against filters over plain tasks."""

from dataclasses import fields, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import KeyRange, key_of, keys_after, keys_before, keys_of_prefix
from shared.domain.leaves.leaf_summaries import MAX_BYTES, summary_after, summary_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.leaves.task_filters import ANY, Between, TaskFilter
from shared.domain.tasks.failures import failure_group_id
from shared.domain.tasks.tasks import Task
from tests.domain.support.task_strategies import counted, distinct, tasks_with
from tests.domain.support.task_strategies import tasks as any_tasks
from tests.profiles import half_as_many

CAUSES = [("", ""), ("userError", "FailureExitCode"), ("serverError", "Disk")]
NODES = [("", ""), ("pool", "node-1"), ("Pool", "Node-1"), ("other", "node-1"), ("pool", "node-2")]
ids = st.text("aBb-_0", min_size=1, max_size=5)
tasks = tasks_with(
    id=ids,
    state=st.integers(0, 3),
    result=st.integers(0, 2),
    exit_code=st.sampled_from([None, 0, 1]),
    failure=st.sampled_from(CAUSES),
    node=st.sampled_from(NODES),
    slots=st.integers(1, 3),
    start=st.integers(0, 4),
    end=st.integers(0, 8),
)
many = st.lists(tasks, max_size=30).map(distinct)


def some(values: st.SearchStrategy[Any]) -> st.SearchStrategy[frozenset[Any]]:
    return st.frozensets(values, max_size=2)


bounds = st.just(ANY) | st.builds(Between, st.none() | st.integers(0, 5), st.none() | st.integers(0, 5))
filters = st.builds(
    TaskFilter,
    states=some(st.integers(0, 3)),
    results=some(st.integers(1, 2)),
    exit_codes=some(st.integers(0, 2)),
    nodes=some(st.sampled_from(["node-1", "NODE-1", "node-3"])),
    pools=some(st.sampled_from(["pool", "POOL", "none"])),
    failure_groups=some(st.sampled_from([failure_group_id(cause, code) for cause in CAUSES for code in (None, 1)])),
    prefix=st.just("") | st.text("aBb-_0", max_size=2),
    slots=some(st.integers(1, 4)),
    started=bounds,
    run_time=bounds,
)
ranges = st.builds(KeyRange, ids.map(key_of) | st.just(""), st.none() | ids.map(key_of))


def within(between: Between, value: int | None) -> bool:
    low, high = (0 if between.low is None else between.low), (99 if between.high is None else between.high)
    return between == ANY or (value is not None and low <= value <= high)


def wants(wanted: TaskFilter, task: Task) -> bool:
    """Evaluates the filter on a plain task."""
    group = failure_group_id(task.failure, task.exit_code) if task.result == 2 else None
    node, pool = ({name.lower() for name in names} for names in (wanted.nodes, wanted.pools))
    asked = [
        (wanted.states, task.state),
        (wanted.results, task.result),
        (wanted.exit_codes, task.exit_code),
        (node, task.node[1].lower()),
        (pool, task.node[0].lower()),
        (wanted.failure_groups, group),
        (wanted.slots, task.slots),
    ]
    fits = all(value in values for values, value in asked if values)
    fits = fits and within(wanted.started, task.start or None)
    fits = fits and within(wanted.run_time, task.end - task.start if 0 < task.start <= task.end else None)
    return fits and task.id.lower().startswith(wanted.prefix.lower())


def holds(keys: KeyRange, key: str) -> bool:
    return key >= keys.low and (keys.high is None or key < keys.high)


@half_as_many()
@given(many, filters, ranges)
def test_a_filter_on_columns_agrees_with_a_check_of_every_task(
    rows: list[Task], wanted: TaskFilter, keys: KeyRange
) -> None:
    leaf = Leaf.unpack(Leaf(rows).pack())
    found = [leaf.row(at) for at in wanted.places(leaf, keys)]
    assert found == [task for task in rows if wants(wanted, task) and holds(keys, key_of(task.id))]


@half_as_many()
@given(many, filters)
def test_each_filter_alone_agrees_with_a_check_of_every_task(rows: list[Task], wanted: TaskFilter) -> None:
    leaf = Leaf(rows)
    for name in [field.name for field in fields(TaskFilter)]:
        alone = replace(TaskFilter(), **{name: getattr(wanted, name)})
        assert [leaf.row(at) for at in alone.places(leaf, KeyRange())] == [task for task in rows if wants(alone, task)]


@half_as_many()
@given(many, filters)
def test_counts_show_how_many_match_or_none(rows: list[Task], wanted: TaskFilter) -> None:
    rows = [task._replace(result=task.result or 1) if task.state == 3 else task._replace(result=0) for task in rows]
    for asked in (wanted, TaskFilter(wanted.states, wanted.results)):
        count = asked.count(counted(rows))
        assert count in {None, sum(wants(asked, task) for task in rows)}
        assert count is not None or asked != TaskFilter(wanted.states, wanted.results)


@half_as_many()
@given(many, filters)
def test_a_leaf_is_ruled_out_only_if_nothing_in_it_matches(rows: list[Task], wanted: TaskFilter) -> None:
    if not wanted.may_match(counted(rows)):
        assert not any(wants(wanted, task) for task in rows)


@half_as_many()
@given(many, many, filters, st.sampled_from([MAX_BYTES, 300]))
def test_a_leaf_is_ruled_out_by_its_summary_only_if_nothing_in_it_matches(
    before: list[Task], seen: list[Task], wanted: TaskFilter, most: int
) -> None:
    leaf = Leaf.unpack(Leaf(before).pack())
    stored, counts = summary_of(leaf).pack(), leaf.counts()
    leaf.fold(seen)
    summary = summary_after(stored, counts, leaf).pack(most)
    if not wanted.may_match(leaf.counts(), summary):
        assert not any(wants(wanted, task) for task in distinct([*before, *seen]))


def test_leaves_where_tasks_failed_for_other_causes_are_ruled_out() -> None:
    leaf = Leaf([Task("a", 3, 2, exit_code=1, failure=CAUSES[1]), Task("b", 3, 1, exit_code=0)])
    summary, counts = summary_of(leaf).pack(), leaf.counts()
    this, other = failure_group_id(CAUSES[1], 1), failure_group_id(CAUSES[1], 2)
    for wanted in (
        TaskFilter(failure_groups=frozenset({other})),
        TaskFilter(failure_groups=frozenset({this}), exit_codes=frozenset({2})),
        TaskFilter(results=frozenset({2}), exit_codes=frozenset({0})),
    ):
        assert wanted.may_match(counts)
        assert not wanted.may_match(counts, summary)
        assert wanted.may_match(counts, b"damaged")
    for wanted in (
        TaskFilter(failure_groups=frozenset({this})),
        TaskFilter(results=frozenset({2}), exit_codes=frozenset({1})),
        TaskFilter(exit_codes=frozenset({0})),
    ):
        assert wanted.may_match(counts, summary)


def test_a_leaf_whose_summary_leaves_causes_out_is_never_ruled_out() -> None:
    leaf = Leaf([Task(f"task-{code:03}", 3, 2, exit_code=code) for code in range(120)])
    summary = summary_of(leaf).pack()
    assert all(
        TaskFilter(results=frozenset({2}), exit_codes=frozenset({code})).may_match(leaf.counts(), summary)
        for code in range(120)
    )


def test_leaves_whose_counts_say_enough_are_ruled_out() -> None:
    counts = counted([Task("a", 0), Task("b", 3, 1)])
    for wanted in (
        TaskFilter(states=frozenset({2})),
        TaskFilter(results=frozenset({2})),
        TaskFilter(failure_groups=frozenset({"0"})),
    ):
        assert not wanted.may_match(counts)
    for wanted in (
        TaskFilter(states=frozenset({0})),
        TaskFilter(states=frozenset({3}), results=frozenset({1})),
        TaskFilter(exit_codes=frozenset({5})),
        TaskFilter(),
    ):
        assert wanted.may_match(counts)


@given(st.lists(any_tasks, max_size=20).map(distinct))
def test_a_column_is_that_property_of_every_task(rows: list[Task]) -> None:
    leaf = Leaf.unpack(Leaf(rows).pack())
    for name in Task._fields:
        assert leaf.column(name) == [getattr(task, name) for task in rows]


@given(st.lists(ids.map(key_of), unique=True).map(sorted), ranges, ranges)
def test_a_range_of_keys_finds_their_places(keys: list[str], one: KeyRange, other: KeyRange) -> None:
    assert [keys[at] for at in one.places(keys)] == [key for key in keys if holds(one, key)]
    both = [key for key in keys if holds(one, key) and holds(other, key)]
    assert [keys[at] for at in one.common(other).places(keys)] == both
    assert not (one.is_empty and list(one.places(keys)))


@given(st.lists(ids.map(key_of), unique=True).map(sorted), ids)
def test_ranges_begin_behind_a_key_end_before_it_or_hold_a_prefix(keys: list[str], name: str) -> None:
    key = key_of(name)
    assert [keys[at] for at in keys_after(key).places(keys)] == [other for other in keys if other > key]
    assert [keys[at] for at in keys_before(key).places(keys)] == [other for other in keys if other < key]
    assert [keys[at] for at in keys_of_prefix(name).places(keys)] == [other for other in keys if other.startswith(key)]
