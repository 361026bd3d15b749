"""Orders and pages of tasks, against plain sorting."""

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.keys import KeyRange, key_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_order import BY_ID, ORDERS, BestTasks, Position, TaskOrder
from shared.domain.tasks.tasks import Task
from tests.domain.support.task_strategies import distinct, tasks_with
from tests.profiles import half_as_many

moments = st.sampled_from([0, 5, 6, 7, 90])
ids = st.text("aBc01", min_size=1, max_size=4)
repeats = st.sampled_from([0, 0, 0, 1])
times = {"transition": moments, "creation": moments, "start": moments, "end": moments}
tasks = tasks_with(id=ids, state=st.integers(0, 3), retries=repeats, requeues=repeats, **times)
many = st.lists(tasks, max_size=40).map(distinct)
orders = st.builds(TaskOrder, st.sampled_from([name for name in ORDERS if name != BY_ID]), st.booleans())


def value(task: Task, by: str) -> int | None:
    """Returns the value by which a task is ordered."""
    match by:
        case "creationTime":
            return task.creation or None
        case "stateTransitionTime":
            return task.transition or None
        case "startTime":
            return task.start or None
        case "endTime":
            return task.end or None
        case "runTime":
            return task.end - task.start if task.end and task.start else None
        case _:
            is_known = task.start and task.creation and task.retries == task.requeues == 0
            return task.start - task.creation if is_known else None


def in_order(rows: list[Task], order: TaskOrder) -> list[Task]:
    """Sorts in plain steps: by ids, then by values, with unknown values last."""
    rows = sorted(rows, key=lambda task: task.id.lower())
    rows.sort(key=lambda task: value(task, order.by) or 0, reverse=order.descending)
    return [
        *(task for task in rows if value(task, order.by) is not None),
        *sorted((task for task in rows if value(task, order.by) is None), key=lambda task: task.id.lower()),
    ]


def leaves_of(rows: list[Task], size: int) -> list[Leaf]:
    return [Leaf(rows[at : at + size]) for at in range(0, len(rows), size)]


def page(leaves: list[Leaf], order: TaskOrder, size: int, after: Position | None, wanted: TaskFilter) -> list[Task]:
    best = BestTasks(order, size, after)
    for leaf in leaves:
        best.take(leaf, wanted.places(leaf, KeyRange()))
    return best.tasks()


@half_as_many()
@given(many, orders, st.integers(1, 50), st.integers(1, 9))
def test_pages_of_any_size_give_every_task_once_and_in_order(
    rows: list[Task], order: TaskOrder, size: int, leaf_rows: int
) -> None:
    leaves, listed, after = leaves_of(rows, leaf_rows), list[Task](), None
    while found := page(leaves, order, size, after, TaskFilter()):
        assert len(found) <= size
        assert len(listed) <= len(rows)
        listed += found
        after = order.position(found[-1])
    assert listed == in_order(rows, order)


@half_as_many()
@given(many, orders, st.integers(1, 50), st.integers(0, 3))
def test_a_page_holds_the_first_of_those_that_match(rows: list[Task], order: TaskOrder, size: int, state: int) -> None:
    found = page(leaves_of(rows, 3), order, size, None, TaskFilter(states=frozenset({state})))
    assert found == in_order([task for task in rows if task.state == state], order)[:size]


@half_as_many()
@given(many, orders)
def test_a_tasks_position_is_the_same_by_its_leaf_and_alone(rows: list[Task], order: TaskOrder) -> None:
    leaf = Leaf(rows)
    assert order.positions(leaf, range(len(leaf))) == [order.position(task) for task in rows]


@half_as_many()
@given(many, many, orders, st.integers(1, 9), st.integers(0, 3))
def test_unchanged_tasks_are_listed_once_though_others_change(
    rows: list[Task], later: list[Task], order: TaskOrder, size: int, pages: int
) -> None:
    changed, listed, after = {task.id.lower() for task in later}, list[Task](), None
    kept = [task for task in rows if task.id.lower() not in changed]
    for _ in range(pages):
        found = page(leaves_of(rows, 4), order, size, after, TaskFilter())
        listed += found
        after = order.position(found[-1]) if found else after
    rows = distinct([*rows, *later])
    while found := page(leaves_of(rows, 7), order, size, after, TaskFilter()):
        listed += found
        after = order.position(found[-1])
    assert [task for task in listed if task in kept] == in_order(kept, order)


@half_as_many()
@given(rows=many, descending=st.booleans())
def test_positions_by_id_are_those_of_keys(*, rows: list[Task], descending: bool) -> None:
    order = TaskOrder(descending=descending)
    assert [order.position(task)[-1] for task in rows] == [key_of(task.id) for task in rows]


def test_few_more_rows_than_a_page_are_kept_of_many_leaves() -> None:
    best = BestTasks(TaskOrder("startTime", descending=True), 10)
    for number in range(200):
        leaf = Leaf([Task(f"task-{number:04}-{row:02}", 3, start=1 + number * 20 + row) for row in range(20)])
        best.take(leaf, list(range(20)))
        assert len(best._found) <= 20
    assert [task.start for task in best.tasks()] == list(range(4000, 3990, -1))
