"""Jobs of other kinds than those that the measure was developed with: written before, scored once afterwards."""

from tests.domain.contrasts.made_jobs import (
    GIB,
    HOUR,
    SIZES,
    Draws,
    MadeJob,
    Workload,
    finished,
    made_tasks,
    numbered,
    outcomes,
    shots,
)
from tests.domain.contrasts.planted_jobs import Plant, _job, _quantile, _rate


def since_a_moment(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    since = _quantile([task.start for task in made[0]], 0.63)
    return _job(dice, made, base, ["start"], (lambda task: task.start >= since, _rate(dice, base)))


def outage_of_minutes(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    begin = _quantile([task.start for task in made[0]], 0.3)
    end = begin + (max(task.start for task in made[0]) - min(task.start for task in made[0])) // 8
    return _job(dice, made, base, ["start", "startHour"], (lambda task: begin <= task.start < end, 0.9))


def wide_tasks(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.slots = dice.choice((1, 1, 1, 2, 4))
    return _job(dice, made, base, ["slots"], (lambda task: task.slots == 4, _rate(dice, base)))


def requeued(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.requeues = int(dice.random() < 0.15)
    return _job(dice, made, base, ["requeues"], (lambda task: task.requeues > 0, _rate(dice, base)))


def busy_gpus(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    bound = _quantile([task.gpu for task in made[0]], 0.82)
    return _job(dice, made, base, ["gpus"], (lambda task: task.gpu >= bound, _rate(dice, base)))


def fast_failing_node(dice: Draws, work: Workload, base: float) -> MadeJob:
    """A node whose tasks fail within a second, so that it takes up many more."""
    tasks, fleet = made_tasks(dice, work)
    bad = fleet.nodes[0]
    for task in tasks:
        if task.node is not bad and dice.random() < 0.15:
            task.node = bad
        if task.node is bad:
            task.span, task.memory = 800 + dice.randrange(900), GIB // 20
    return _job(dice, (tasks, fleet), base, ["node"], (lambda task: task.node is bad, 0.98))


def rare_vm_size(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    for number, node in enumerate(fleet.nodes):
        node.traits = node.traits._replace(vm_size=SIZES[2] if number < 3 else SIZES[0])
    return _job(
        dice, (tasks, fleet), base, ["vmSize"], (lambda task: task.node.traits.vm_size == SIZES[2], _rate(dice, base))
    )


def last_part(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = lambda dice, number, _: ((which := dice.choice("abcdef")) and f"run{number}.{which}", (which,))
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart3"], (lambda task: task.parts[0] == "d", _rate(dice, base)))


def one_of_a_thousand(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.count, base = max(work.count, 3_000), min(base, 0.03)
    values = work.count // 30
    work.naming = lambda dice, number, _: ((sample := dice.randrange(values), f"s{sample}-{number}")[1], (sample,))
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart2"], (lambda task: task.parts[0] == 7, 0.95))


def memory_of_some(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.measured = dice.random() < 0.6
    bound = _quantile([task.memory for task in made[0]], 0.8)
    return _job(dice, made, base, ["memoryPeak"], (lambda task: task.memory >= bound, _rate(dice, base)))


def first_positions(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = numbered
    made = made_tasks(dice, work)
    many = max(work.count // 8, 10)
    return _job(dice, made, base, ["position", "idPart2"], (lambda task: task.number < many, _rate(dice, base)))


def one_scene(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = shots
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart2", "position"], (lambda task: task.parts[0] == 3, _rate(dice, base)))


def pool_and_outage(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.pools = 3
    made = made_tasks(dice, work)
    begin = _quantile([task.start for task in made[0]], 0.5)
    end = _quantile([task.start for task in made[0]], 0.62)
    return _job(
        dice,
        made,
        base,
        ["pool", "start", "startHour"],
        (lambda task: task.node.pool == "pool-3", _rate(dice, base)),
        (lambda task: begin <= task.start < end, _rate(dice, base)),
    )


def spot_with_retries(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Each failed task was retried three times, as its constraint says; the cause is the spot nodes."""
    tasks, fleet = made_tasks(dice, work)
    for number, node in enumerate(fleet.nodes):
        node.traits = node.traits._replace(dedicated=number % 3 > 0)
    failed = outcomes(dice, tasks, base, [(lambda task: not task.node.traits.dedicated, _rate(dice, base))])
    for task, has_failed in zip(tasks, failed, strict=True):
        task.retries = 3 if has_failed else dice.choice((0,) * 12 + (1, 2))
    return finished(tasks, fleet, failed, ("priority",))


def memory_kills_that_end_early(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    bound = _quantile([task.memory for task in made[0]], 0.85)
    for task in made[0]:
        if task.memory >= bound:
            task.span = round(task.span * dice.uniform(0.2, 0.8))
    return _job(dice, made, base, ["memoryPeak"], (lambda task: task.memory >= bound, 0.9))


def waited_behind_others(dice: Draws, work: Workload, base: float) -> MadeJob:
    """All tasks are created at once, and those that wait longest fail: their tokens have expired."""
    work.spread, work.naming = 0, numbered
    made = made_tasks(dice, work)
    bound = _quantile([task.wait for task in made[0]], 0.8)
    return _job(dice, made, base, ["wait", "start"], (lambda task: task.wait >= bound, _rate(dice, base)))


UNSEEN: tuple[Plant, ...] = (
    since_a_moment, outage_of_minutes, wide_tasks, requeued, busy_gpus, fast_failing_node, rare_vm_size, last_part,
    one_of_a_thousand, memory_of_some, first_positions, one_scene, pool_and_outage, spot_with_retries,
    memory_kills_that_end_early, waited_behind_others,
)  # fmt: skip


def failures_end_early(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    failed = outcomes(dice, tasks, base)
    for task, has_failed in zip(tasks, failed, strict=True):
        if has_failed:
            task.span, task.memory = dice.randrange(500, 5_000), task.memory // 8
    return finished(tasks, fleet, failed)


def retried_to_the_end(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    failed = outcomes(dice, tasks, base)
    for task, has_failed in zip(tasks, failed, strict=True):
        task.retries = 2 if has_failed else dice.choice((0,) * 9 + (1,))
    return finished(tasks, fleet, failed)


def short_runs_of_failures(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Failures come in threes, one after the other by start, anywhere."""
    tasks, fleet = made_tasks(dice, work)
    order = sorted(range(len(tasks)), key=lambda at: tasks[at].start)
    failed = [False] * len(tasks)
    for place in range(len(order) - 3):
        if dice.random() < base / 3:
            for at in order[place : place + 3]:
                failed[at] = True
    return finished(tasks, fleet, failed)


def nodes_a_little_different(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Each node has a rate of its own about the base; none stands out."""
    tasks, fleet = made_tasks(dice, work)
    rates = {node.id: base * dice.uniform(0.5, 1.5) for node in fleet.nodes}
    return finished(tasks, fleet, [dice.random() < rates[task.node.id] for task in tasks])


def measured_in_part(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    for task in tasks:
        task.measured = dice.random() < 0.3
    return finished(tasks, fleet, outcomes(dice, tasks, base))


def frames_of_shots(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming, work.autocorrelated = shots, True
    return _job(dice, made_tasks(dice, work), base, [])


def days_long(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.spread, work.run = 96 * HOUR, work.run * 10
    return _job(dice, made_tasks(dice, work), base, [])


def half_fail(dice: Draws, work: Workload, _base: float) -> MadeJob:
    return _job(dice, made_tasks(dice, work), 0.5, [])


UNSEEN_NOTHING: tuple[Plant, ...] = (
    failures_end_early, retried_to_the_end, short_runs_of_failures, nodes_a_little_different, measured_in_part,
    frames_of_shots, days_long, half_fail,
)  # fmt: skip
