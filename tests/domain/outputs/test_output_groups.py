"""Groups of outputs add up in any order, within their bound."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.outputs.excerpts import error_excerpt
from shared.domain.outputs.known_errors import known_error
from shared.domain.outputs.output_groups import MAX_NODES, MAX_TASKS, OutputExample, OutputGroup, OutputGroups

START = datetime(2026, 3, 1, tzinfo=UTC)
TEXTS = [f"ModuleNotFoundError: No module named '{name}'\n" for name in ("numpy", "torch", "yaml", "h5py")] + [
    "done\n",
    "bye\n",
]
EXCERPTS = [error_excerpt(text) for text in TEXTS]


def example(text: int, task: int, node: int, minute: int) -> OutputExample:
    excerpt = EXCERPTS[text]
    known = known_error(excerpt)
    at = ("pool", f"node-{node}") if node else ("", "")
    return OutputExample(
        START + timedelta(minutes=minute), "job", f"task-{task}", at, excerpt, known.id if known else ""
    )


EXAMPLES = st.builds(example, st.integers(0, 5), st.integers(0, 99), st.integers(0, 4), st.integers(0, 9))
PARTS = st.lists(st.lists(EXAMPLES, max_size=6), min_size=1, max_size=5)


@given(PARTS, st.integers(1, 7), st.data())
def test_groups_are_the_same_in_any_order_and_however_they_are_added_up(
    parts: list[list[OutputExample]], most: int, data: st.DataObject
) -> None:
    groups = [OutputGroups.of(part) for part in parts]
    whole = OutputGroups.merged(groups, most=most)
    left = OutputGroups()
    for one in data.draw(st.permutations(groups)):
        left = OutputGroups.merged([left, one], most=most)
    right = OutputGroups()
    for one in reversed(groups):
        right = OutputGroups.merged([OutputGroups.merged([one], most=most), right], most=most)
    assert left == whole == right


@given(PARTS, st.integers(1, 7))
def test_each_task_counts_once_and_groups_are_bounded(parts: list[list[OutputExample]], most: int) -> None:
    groups = OutputGroups.merged([OutputGroups.of(part) for part in parts], most=most)
    every = [one for part in parts for one in part]
    assert groups.count == len(every)
    assert len(groups.groups) <= most
    for group in groups.groups:
        own = [one for one in every if one.excerpt.signature == group.signature]
        assert group.count == len(own)
        assert group.first == min(own)
        assert group.newest == max(own)
        assert dict(group.nodes) == Counter(one.node for one in own if one.node[1])


@given(st.lists(EXAMPLES, max_size=8))
def test_nothing_is_neutral(examples: list[OutputExample]) -> None:
    groups = OutputGroups.of(examples)
    assert OutputGroups.merged([groups, OutputGroups()]) == groups


def test_statements_of_errors_are_kept_before_outputs_that_say_nothing() -> None:
    groups = OutputGroups.of([example(text, 1, 1, 0) for text in (4, 5, 0)])
    kept = OutputGroups.merged([groups], most=1)
    assert [group.title for group in kept.groups] == ["ModuleNotFoundError: No module named 'numpy'"]
    assert kept.ungrouped == 2


def test_nodes_beyond_the_bound_are_counted() -> None:
    groups = OutputGroups.of(example(0, node, node, 0) for node in range(1, MAX_NODES + 11))
    (group,) = groups.groups
    assert group.node_count == MAX_NODES
    assert group.elsewhere == 10
    assert group.count == MAX_NODES + 10


def test_the_tasks_of_a_group_are_those_that_ended_first() -> None:
    examples = [example(0, at, 1, MAX_TASKS + 9 - at) for at in range(MAX_TASKS + 10)]
    (group,) = OutputGroups.of(examples).groups
    assert group.tasks == tuple(f"task-{at}" for at in range(MAX_TASKS + 9, 9, -1))
    assert group.count == MAX_TASKS + 10


def test_a_group_has_title_examples_and_advice() -> None:
    groups = OutputGroups.of([example(0, 1, 1, 5), example(0, 2, 2, 1), example(1, 3, 1, 2)])
    group = groups.largest(1)[0]
    assert (group.count, group.first.task, group.newest.task) == (2, "task-2", "task-1")
    assert group.title == "ModuleNotFoundError: No module named 'numpy'"
    assert group.known is not None
    assert group.known.category == "configuration"


def test_a_task_without_a_node_has_a_group_without_nodes() -> None:
    assert OutputGroup.of(example(0, 1, 0, 0)).nodes == ()
