"""Groups of measured runs by exit, from the cached tasks."""

from shared.domain.efficiency.exit_groups import MAX_EXIT_CODES, ExitKey, exit_groups
from shared.domain.efficiency.task_groups import TaskGroup
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, FAILURE, SUCCESS, Task
from tests.domain.efficiency.measured_jobs import run

SIZE = "standard_d4s_v5"


def task(number: int, *, state: int = COMPLETED, exit_code: int | None = 0, start: int = 0) -> Task:
    """Returns the cached task of a made-up run, whose start is that of the run if none is given."""
    result = SUCCESS if exit_code == 0 else FAILURE
    begun = start or run(number).start
    return Task(run(number).task, state, result, start=begun * 1000, exit_code=exit_code)


def test_a_run_has_the_exit_of_its_task() -> None:
    tasks = {"task-0001": task(1), "task-0002": task(2, exit_code=137), "task-0003": task(3, exit_code=None)}
    assert exit_groups([run(1), run(2), run(3), run(4)], tasks) == {
        ExitKey("success", 0, SIZE): TaskGroup.of([run(1)]),
        ExitKey("failure", 137, SIZE): TaskGroup.of([run(2)]),
        ExitKey("failure", None, SIZE): TaskGroup.of([run(3)]),
        ExitKey("unknown", None, SIZE): TaskGroup.of([run(4)]),
    }


def test_a_run_that_another_one_of_its_task_came_after_has_no_exit() -> None:
    again = run(1)._replace(start=run(1).start + 500)
    key = ExitKey("followed", None, SIZE)
    assert exit_groups([run(1), again], {"task-0001": task(1, start=again.start)}) == {
        ExitKey("success", 0, SIZE): TaskGroup.of([again]),
        key: TaskGroup.of([run(1)]),
    }
    assert exit_groups([run(1)], {"task-0001": task(1, start=again.start)}).keys() == {key}
    assert exit_groups([run(1)], {"task-0001": task(1, state=ACTIVE)}).keys() == {key}


def test_the_clock_of_a_node_may_be_a_little_late() -> None:
    late = run(1)._replace(start=run(1).start - 30)
    assert exit_groups([late], {"task-0001": task(1)}).keys() == {ExitKey("success", 0, SIZE)}


def test_only_the_most_frequent_exit_codes_make_groups() -> None:
    numbers = range(2 * MAX_EXIT_CODES)
    tasks = {f"task-{at:04}": task(at, exit_code=1 + at % (MAX_EXIT_CODES + 2)) for at in numbers}
    found = exit_groups(map(run, numbers), tasks)
    assert len(found) == MAX_EXIT_CODES + 1
    assert found[ExitKey("failure", None, SIZE)].runs < len(numbers) / 2
