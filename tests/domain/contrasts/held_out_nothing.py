"""Jobs without a cause, of further kinds: failures that follow from chance, in jobs of an unusual form."""

from tests.domain.contrasts.made_jobs import HOUR, MINUTE, Draws, MadeJob, Workload, finished, made_tasks, outcomes
from tests.domain.contrasts.planted_jobs import Plant, _job


def a_handful(dice: Draws, work: Workload, _base: float) -> MadeJob:
    work.count, work.nodes = dice.randrange(8, 40), 4
    return _job(dice, made_tasks(dice, work), 0.4, [])


def nearly_all_fail(dice: Draws, work: Workload, _base: float) -> MadeJob:
    return _job(dice, made_tasks(dice, work), 0.93, [])


def ids_of_many_parts(dice: Draws, work: Workload, base: float) -> MadeJob:
    def named(dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
        return "-".join([*(f"{letter}{dice.randrange(9)}" for letter in "abcd"), str(number)]), ()

    work.naming = named
    return _job(dice, made_tasks(dice, work), base, [])


def few_values_of_memory(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    for task in tasks:
        task.memory = round(dice.paretovariate(0.9)) << 30
        task.gpu = dice.choice((0, 0, 0, 1000))
    return _job(dice, (tasks, fleet), base, [])


def a_task_a_node(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.nodes, work.slots = work.count, 1
    return _job(dice, made_tasks(dice, work), base, [])


def crowded_and_empty_nodes(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Half of the tasks run on one node, and the VM sizes are as uneven."""
    tasks, fleet = made_tasks(dice, work)
    for task in tasks:
        if dice.random() < 0.5:
            task.node = fleet.nodes[0]
    return _job(dice, (tasks, fleet), base, [])


def waves_with_growing_tasks(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Later waves run longer, use more memory and wait longer, and fail as often as the first."""
    tasks, fleet = made_tasks(dice, work)
    for task in tasks:
        wave = task.number * 5 // work.count
        task.span, task.memory = task.span * (wave + 1), task.memory * (wave + 1)
        task.creation = task.start - wave * 20 * MINUTE - dice.randrange(MINUTE)
    return _job(dice, (tasks, fleet), base, [])


def pairs_fail_together(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Each input has two tasks, one after the other, and both fail if it is damaged."""
    tasks, fleet = made_tasks(dice, work)
    damaged = [dice.random() < base for _ in range(work.count // 2 + 1)]
    return finished(tasks, fleet, [damaged[task.number // 2] for task in tasks])


def stamps_of_whole_hours(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    for task in tasks:
        task.start = task.start // HOUR * HOUR
        task.creation = min(task.creation // HOUR * HOUR, task.start)
    return _job(dice, (tasks, fleet), base, [])


def failures_time_out(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Failed tasks lose their node halfway, so they used less and have the requeues of any other task."""
    tasks, fleet = made_tasks(dice, work)
    failed = outcomes(dice, tasks, base)
    for task, has_failed in zip(tasks, failed, strict=True):
        task.requeues = dice.choice((0, 0, 0, 0, 1, 2))
        if has_failed:
            task.span, task.memory, task.gpu = task.span // 2, task.memory // 2, task.gpu // 2
    return finished(tasks, fleet, failed)


HELD_OUT_NOTHING: tuple[Plant, ...] = (
    a_handful, nearly_all_fail, ids_of_many_parts, few_values_of_memory, a_task_a_node, crowded_and_empty_nodes,
    waves_with_growing_tasks, pairs_fail_together, stamps_of_whole_hours, failures_time_out,
)  # fmt: skip
