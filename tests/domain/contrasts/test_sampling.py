"""Of a large job the same tasks are compared each time, failed and succeeded ones sampled apart."""

from shared.domain.contrasts.sampling import MAX_FAILED, MAX_SUCCEEDED, TaskSample
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import COMPLETED, FAILURE, RUNNING, SUCCESS, Task, TaskCounts


def _leaf(rows: int) -> Leaf:
    results = (SUCCESS, FAILURE, 0)
    states = (COMPLETED, COMPLETED, RUNNING)
    return Leaf([Task(f"t{at:05d}", states[at % 3], results[at % 3]) for at in range(rows)])


def test_all_ended_tasks_of_a_small_job_are_compared() -> None:
    sample = TaskSample.of(TaskCounts(completed=MAX_FAILED, succeeded=1_000, failed=MAX_FAILED))
    found = sample.tasks(_leaf(300), range(300))
    assert (sample.is_all, len(found), {task.state for task in found}) == (True, 200, {COMPLETED})


def test_of_many_tasks_a_part_is_compared_and_the_same_one_each_time() -> None:
    sample = TaskSample.of(TaskCounts(completed=10**6, succeeded=4 * MAX_SUCCEEDED, failed=2 * MAX_FAILED))
    leaf = _leaf(4_000)
    found = sample.tasks(leaf, range(4_000))
    failed = sum(task.result == FAILURE for task in found)
    assert (0.2 < (len(found) - failed) / 1_333 < 0.3, 0.45 < failed / 1_333 < 0.55) == (True, True)
    assert found == sample.tasks(leaf, range(4_000))
