"""A node isn't named for when its tasks ran or for which it got, and is named where it fails beside others."""

from collections.abc import Callable

import pytest

from shared.domain.contrasts.blamed_nodes import nodes_at_fault
from shared.domain.contrasts.comparison import compare_tasks
from shared.domain.contrasts.node_outcomes import failing_nodes, node_outcomes
from shared.domain.nodes.failing_nodes import FailingNode
from shared.domain.tasks.tasks import COMPLETED, FAILURE, SUCCESS, Task
from tests.domain.contrasts.made_jobs import DAWN, MINUTE, Draws, Workload, finished, made_tasks, outcomes


def _task(number: int, node: str, *, failed: bool, start: int | None = None) -> Task:
    begun = DAWN + (number if start is None else start) * MINUTE
    return Task(
        id=f"task-{number:05d}", state=COMPLETED, result=FAILURE if failed else SUCCESS,
        creation=DAWN, start=begun, end=begun + MINUTE, transition=begun + MINUTE, node=("pool", node),
    )  # fmt: skip


def _accused(tasks: list[Task]) -> tuple[list[str], list[str]]:
    """Returns the nodes that stand out, and those of them that are at fault."""
    found = failing_nodes(node_outcomes("job", tasks))
    kept = nodes_at_fault(found, compare_tasks(tasks))
    return [one.place[1] for one in found], [one.place[1] for one in kept]


def _first_alone(dice: Draws, number: int) -> str:
    return "first" if number < 12 else dice.choice(["first", *(f"n{at}" for at in range(7))])


@pytest.mark.parametrize("seed", range(10))
def test_a_node_that_was_alone_when_bad_input_ran_is_not_at_fault(seed: int) -> None:
    dice = Draws(seed)
    tasks = [_task(number, _first_alone(dice, number), failed=number < 12) for number in range(400)]
    assert _accused(tasks) == (["first"], [])


def test_a_node_that_got_all_bad_input_at_once_is_not_at_fault() -> None:
    """Others ran other tasks at that time."""
    dice = Draws(3)
    nodes = ["first"] * 12 + [dice.choice(["first", *(f"n{at}" for at in range(7))]) for _ in range(388)]
    tasks = [_task(number, node, failed=number < 12, start=number // 50) for number, node in enumerate(nodes)]
    assert _accused(tasks) == (["first"], [])


@pytest.mark.parametrize("since", [0.0, 0.33, 0.8])
def test_a_bad_node_stays_at_fault_from_when_it_is_bad(since: float) -> None:
    dice = Draws(5)
    made, fleet = made_tasks(dice, Workload(1_200))
    bad, begin = fleet.nodes[4], sorted(one.start for one in made)[int(len(made) * since)]
    causes = [(lambda task: task.node is bad and task.start >= begin, 0.95)]
    tasks = finished(made, fleet, outcomes(dice, made, 0.02, causes)).tasks
    assert _accused(tasks) == ([bad.id], [bad.id])


def _in_outage(number: int) -> bool:
    return 300 <= number < 400


@pytest.mark.parametrize("outage", [_in_outage, lambda number: number < 100])
def test_a_bad_node_stays_at_fault_beside_an_outage_of_all_nodes(outage: Callable[[int], bool]) -> None:
    dice, tasks = Draws(2), list[Task]()
    for number in range(1_000):
        node = f"n{dice.randrange(10)}"
        tasks.append(_task(number, node, failed=outage(number) or (node == "n3" and dice.random() < 0.9)))
    found, kept = _accused(tasks)
    assert "n3" in found
    assert kept == ["n3"]


def test_a_node_that_takes_most_tasks_as_it_fails_at_once_stays_at_fault() -> None:
    """From the second minute on nearly all tasks are its own, and they fail."""
    tasks = [
        _task(number, f"n{number % 5}" if number < 20 else "hole" if number % 40 else f"n{number // 40 % 5}",
              failed=number >= 20 and number % 40 > 0)
        for number in range(600)
    ]  # fmt: skip
    assert _accused(tasks) == (["hole"], ["hole"])


def test_a_node_of_whose_failed_tasks_a_sample_has_too_few_stays_at_fault() -> None:
    """The sample has three of the 40 failed tasks that were counted, all of them from an outage of all nodes."""
    dice = Draws(4)
    tasks = [_task(number, f"n{dice.randrange(10)}", failed=number < 100) for number in range(600)]
    tasks += [_task(number, "few", failed=True, start=number - 600) for number in range(600, 603)]
    node = FailingNode(("pool", "few"), ended=45, failed=40, expected=8.0, other_nodes=10, jobs=1, p_value=1e-9)
    comparison = compare_tasks(tasks)
    assert comparison.contrasts[0].is_serial
    assert nodes_at_fault([node], comparison) == [node]
