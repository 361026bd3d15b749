"""Of a large job the same tasks are compared each time, failed and succeeded ones sampled apart."""

from shared.domain.contrasts.sampling import MAX_FAILED, MAX_SUCCEEDED, ComparedTasks, TaskSample
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import COMPLETED, FAILURE, RUNNING, SUCCESS, Task, TaskCounts


def _leaf(rows: int) -> Leaf:
    results = (SUCCESS, FAILURE, 0)
    states = (COMPLETED, COMPLETED, RUNNING)
    return Leaf([Task(f"t{at:05d}", states[at % 3], results[at % 3]) for at in range(rows)])


def test_all_ended_tasks_of_a_small_job_are_compared() -> None:
    sample = TaskSample.of(TaskCounts(completed=MAX_FAILED, succeeded=1_000, failed=MAX_FAILED))
    leaf = _leaf(300)
    found = leaf.rows(sample.places(leaf, range(300)))
    assert (sample.is_all, len(found), {task.state for task in found}) == (True, 200, {COMPLETED})


def test_of_many_tasks_a_part_is_compared_and_the_same_one_each_time() -> None:
    sample = TaskSample.of(TaskCounts(completed=10**6, succeeded=4 * MAX_SUCCEEDED, failed=2 * MAX_FAILED))
    leaf = _leaf(4_000)
    found = leaf.rows(sample.places(leaf, range(4_000)))
    failed = sum(task.result == FAILURE for task in found)
    assert (0.2 < (len(found) - failed) / 1_333 < 0.3, 0.45 < failed / 1_333 < 0.55) == (True, True)
    assert found == leaf.rows(sample.places(leaf, range(4_000)))


def test_sampled_tasks_keep_their_positions_among_all_tasks_by_creation_and_by_key() -> None:
    tasks = [Task(f"t{at:03d}", COMPLETED, SUCCESS, creation=1_000 - at // 10) for at in range(300)]
    tasks[7] = tasks[7]._replace(state=RUNNING, result=0)
    compared, leaves = ComparedTasks(TaskSample(succeeded=1 << 30)), (Leaf(tasks[:100]), Leaf(tasks[100:]))
    compared.add(leaves[0], range(100))
    compared.add(leaves[1], range(50))
    compared.add(leaves[1], range(50, 200))
    expected = sorted(tasks, key=lambda task: (task.creation, task.id))
    assert 40 < len(compared.tasks) < 110
    assert compared.positions() == [expected.index(task) + 1 for task in compared.tasks]
