"""What is compared, what is said where there is little, and in which order groups of the same tasks stand."""

from collections.abc import Iterator

import pytest

from shared.domain.contrasts.attributes import NodeTraits, RunFigures
from shared.domain.contrasts.comparison import compare_tasks
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, RUNNING, SUCCESS, Task
from tests.domain.contrasts.made_jobs import DAWN, MINUTE, Draws, Workload, finished, made_tasks, outcomes

_SPAN = 5 * MINUTE


def _task(number: int, *, failed: bool = False, node: str = "n1", retries: int = 0, name: str = "") -> Task:
    start = DAWN + number * MINUTE
    return Task(
        id=name or f"task-{number:05d}",
        state=COMPLETED,
        result=FAILURE if failed else SUCCESS,
        creation=DAWN,
        start=start,
        end=start + _SPAN,
        transition=start + _SPAN,
        retries=retries,
        node=("pool", node),
    )


def _on_nodes(count: int, bad: str = "") -> Iterator[Task]:
    dice = Draws(7)
    for number in range(count):
        node = f"n{dice.randrange(10)}"
        yield _task(number, failed=dice.random() < (0.8 if node == bad else 0.03), node=node)


@pytest.mark.parametrize(
    ("failed", "succeeded", "result"),
    [(0, 50, "noneFailed"), (50, 0, "allFailed"), (2, 8, "tooFew"), (0, 0, "noneFailed"), (40, 3, "tooFew")],
)
def test_without_enough_failed_and_succeeded_tasks_nothing_is_compared(
    failed: int, succeeded: int, result: str
) -> None:
    found = compare_tasks([_task(number, failed=number < failed) for number in range(failed + succeeded)])
    assert (found.result, found.failed, found.succeeded, list(found.contrasts)) == (result, failed, succeeded, [])


def test_a_bad_node_is_named_with_its_tasks() -> None:
    tasks = list(_on_nodes(600, bad="n3"))
    (found,) = compare_tasks(tasks).contrasts
    on_it = [task for task in tasks if task.node[1] == "n3"]
    assert (found.attribute, found.low, found.high) == ("node", ("pool", "n3"), ("pool", "n3"))
    assert (found.tally.total, found.tally.failed) == (len(on_it), sum(task.result == FAILURE for task in on_it))
    low, high = found.difference_bounds
    assert 0.4 < low < found.tally.difference < high < 1


def test_tasks_that_have_not_ended_do_not_count() -> None:
    tasks = list(_on_nodes(600, bad="n3"))
    live = [task._replace(id=f"x{task.id}", state=state, result=0) for task in tasks for state in (ACTIVE, RUNNING)]
    assert compare_tasks([*tasks, *live]) == compare_tasks(tasks)


def test_nothing_sets_them_apart_where_failures_are_spread_evenly() -> None:
    found = compare_tasks(list(_on_nodes(600)))
    assert (found.result, found.contrasts, found.consequences) == ("nothing", [], [])
    assert found.tried > 100


def test_equal_tasks_have_equal_answers() -> None:
    tasks = list(_on_nodes(600, bad="n3"))
    assert compare_tasks(tasks) == compare_tasks(tasks)


def test_a_node_stands_before_the_vm_size_that_only_it_has() -> None:
    traits = {("pool", f"n{number}"): NodeTraits("d8" if number == 3 else "d4") for number in range(10)}
    (found,) = compare_tasks(list(_on_nodes(600, bad="n3")), traits).contrasts
    assert (found.attribute, "vmSize" in {one.attribute for one in found.alike}) == ("node", True)


def test_two_causes_at_once_are_both_named() -> None:
    dice = Draws(3)
    tasks, fleet = made_tasks(dice, Workload(2_000))
    bad, other = fleet.nodes[4], fleet.nodes[9]
    causes = [(lambda task: task.node is bad, 0.8), (lambda task: task.node is other, 0.5)]
    job = finished(tasks, fleet, outcomes(dice, tasks, 0.02, causes))
    assert [one.low for one in job.compared().contrasts] == [bad.place, other.place]


def test_two_bad_vm_sizes_of_four_are_both_named() -> None:
    """Nodes of the other bad size aren't nodes that differ by chance."""
    dice, tasks = Draws(4), list[Task]()
    for number in range(400):
        node = dice.randrange(20)
        tasks.append(_task(number, failed=dice.random() < (0.02, 0.8, 0.8, 0.02)[node % 4], node=f"n{node}"))
    traits = {("pool", f"n{number}"): NodeTraits(f"size{number % 4}") for number in range(20)}
    found = compare_tasks(tasks, traits).contrasts
    assert [(one.attribute, one.low) for one in found] == [("vmSize", "size1"), ("vmSize", "size2")]


def test_three_bad_nodes_of_twenty_are_each_named() -> None:
    """Those that are no group of their own raise no rate that the good nodes are measured by."""
    dice, tasks = Draws(4), list[Task]()
    for number in range(300):
        node = dice.randrange(20)
        tasks.append(_task(number, failed=dice.random() < (0.7 if node < 3 else 0.0), node=f"n{node}"))
    found = compare_tasks(tasks).contrasts
    assert {(one.attribute, one.low[1]) for one in found} == {("node", f"n{number}") for number in range(3)}


def test_order_in_the_job_time_of_the_start_and_number_in_the_id_are_one_cause() -> None:
    tasks = [_task(number, failed=700 <= number < 760) for number in range(1_000)]
    (found,) = compare_tasks(tasks).contrasts
    assert {found.attribute, *(one.attribute for one in found.alike)} >= {"start", "position", "idPart2"}


def test_bounds_are_placed_exactly() -> None:
    tasks = [_task(number, name=f"f{number % 50:02d}-{number:04d}") for number in range(1_000)]
    figures = {task.id: RunFigures(memory_peak=1_000 + number) for number, task in enumerate(tasks)}
    tasks = [task._replace(result=FAILURE) if at >= 937 else task for at, task in enumerate(tasks)]
    dice = Draws(1)
    shuffled = [task._replace(start=DAWN + dice.randrange(10**7), creation=1) for task in tasks]
    found = compare_tasks(shuffled, {}, figures).contrasts[0]
    same = {one.attribute: one.low for one in (found, *found.alike)}
    assert same["memoryPeak"] == 1_937


def test_retries_until_none_is_left_and_short_runs_are_consequences() -> None:
    dice = Draws(5)
    tasks, fleet = made_tasks(dice, Workload(1_500))
    failed = outcomes(dice, tasks, 0.05)
    for task, has_failed in zip(tasks, failed, strict=True):
        task.retries, task.span = (3, 900) if has_failed else (int(dice.random() < 0.1), task.span)
    found = finished(tasks, fleet, failed).compared()
    assert (found.result, {one.attribute for one in found.consequences}) == ("nothing", {"retries", "runTime"})


def test_ids_of_any_characters_are_compared() -> None:
    names = ["$(reboot)-{0}", "'; --{0}", "ünïcode-{0}", "{0}", "\N{BELL}{0}x"]
    tasks = [_task(number, failed=number % 5 == 1, name=names[number % 5].format(number)) for number in range(500)]
    assert compare_tasks(tasks).result == "apart"
