"""Jobs with a planted cause of failures, and jobs with none: the kinds that the measure was developed with."""

from collections import Counter
from collections.abc import Callable, Sequence

from tests.domain.contrasts.made_jobs import (
    AGENTS,
    HOUR,
    IMAGES,
    MINUTE,
    SIZES,
    Draws,
    Fleet,
    MadeJob,
    MadeTask,
    Workload,
    finished,
    made_tasks,
    numbered,
    outcomes,
    random_ids,
    samples,
    shots,
)

type Made = tuple[list[MadeTask], Fleet]
type Concerns = Callable[[MadeTask], bool]
type Plant = Callable[[Draws, Workload, float], MadeJob]


def _job(dice: Draws, made: Made, base: float, expected: Sequence[str], *causes: tuple[Concerns, float]) -> MadeJob:
    tasks, fleet = made
    return finished(tasks, fleet, outcomes(dice, tasks, base, causes), tuple(expected))


def _quantile(values: list[int], share: float) -> int:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def _rate(dice: Draws, base: float) -> float:
    return dice.uniform(max(0.5, 4 * base), 0.95)


def _busy_node(tasks: list[MadeTask], at: int = 0) -> str:
    return Counter(task.node.id for task in tasks).most_common(at + 1)[at][0]


def one_node(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    bad = _busy_node(made[0])
    return _job(dice, made, base, ["node"], (lambda task: task.node.id == bad, _rate(dice, base)))


def two_nodes(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    bad = {_busy_node(made[0]), _busy_node(made[0], 1)}
    return _job(dice, made, base, ["node"], (lambda task: task.node.id in bad, _rate(dice, base)))


def one_vm_size(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(vm_size=SIZES[number % 3])
    return _job(dice, made, base, ["vmSize"], (lambda task: task.node.traits.vm_size == SIZES[1], _rate(dice, base)))


def one_pool(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.pools = 3
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["pool"], (lambda task: task.node.pool == "pool-2", _rate(dice, base)))


def spot_only(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(dedicated=number % 5 > 1)
    return _job(dice, made, base, ["priority"], (lambda task: not task.node.traits.dedicated, _rate(dice, base)))


def one_image(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(image=IMAGES[number % 4 == 0])
    return _job(dice, made, base, ["image"], (lambda task: task.node.traits.image == IMAGES[1], _rate(dice, base)))


def one_agent(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(agent=AGENTS[number % 4 == 1])
    return _job(dice, made, base, ["nodeAgent"], (lambda task: task.node.traits.agent == AGENTS[1], _rate(dice, base)))


def one_hour(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    starts = sorted(task.start for task in made[0])
    hour = starts[len(starts) // 2] // HOUR
    return _job(dice, made, base, ["startHour", "start"], (lambda task: task.start // HOUR == hour, _rate(dice, base)))


def memory_above(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    bound = _quantile([task.memory for task in made[0]], dice.choice((0.8, 0.9, 0.95 if work.count > 300 else 0.85)))
    return _job(dice, made, base, ["memoryPeak"], (lambda task: task.memory >= bound, _rate(dice, base)))


def gpu_memory_above(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    bound = _quantile([task.gpu_memory for task in made[0]], 0.85)
    return _job(dice, made, base, ["gpuMemoryPeak"], (lambda task: task.gpu_memory >= bound, _rate(dice, base)))


def one_region(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = samples
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart1"], (lambda task: task.parts[0] == "sa", _rate(dice, base)))


def one_lane(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming, work.count = samples, max(work.count, 800)
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart3"], (lambda task: task.parts[1] == 17, _rate(dice, base)))


def frames_between(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = shots
    made = made_tasks(dice, work)
    most = max(int(str(task.parts[2])) for task in made[0])
    low, high = round(most * 0.4), round(most * 0.55)
    concerns = (lambda task: low <= task.parts[2] <= high, _rate(dice, base))
    return _job(dice, made, base, ["idPart5"], concerns)


def retried(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.retries = dice.choice((0, 0, 0, 0, 0, 1, 1, 2, 3))
    return _job(dice, made, base, ["retries"], (lambda task: task.retries >= 2, _rate(dice, base)))


def long_wait(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.creation = task.start - round(dice.lognormvariate(0, 1) * 10 * MINUTE)
    bound = _quantile([task.wait for task in made[0]], 0.85)
    return _job(dice, made, base, ["wait"], (lambda task: task.wait >= bound, _rate(dice, base)))


def last_positions(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    return _job(
        dice, made, base, ["position", "idPart4"], (lambda task: task.number >= work.count * 0.88, _rate(dice, base))
    )


def time_limit(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    limit = _quantile([task.span for task in made[0]], 0.9)
    hit = {task.id for task in made[0] if task.span >= limit}
    for task in made[0]:
        task.span = min(task.span, limit + dice.randrange(2_000))
    return _job(dice, made, base, ["runTime"], (lambda task: task.id in hit, 0.97))


def node_and_region(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = samples
    made = made_tasks(dice, work)
    bad = _busy_node(made[0])
    return _job(
        dice,
        made,
        base,
        ["node", "idPart1"],
        (lambda task: task.node.id == bad, _rate(dice, base)),
        (lambda task: task.parts[0] == "ap", _rate(dice, base)),
    )


PLANTS: tuple[Plant, ...] = (
    one_node, two_nodes, one_vm_size, one_pool, spot_only, one_image, one_agent, one_hour, memory_above,
    gpu_memory_above, one_region, one_lane, frames_between, retried, long_wait, last_positions, time_limit,
    node_and_region,
)  # fmt: skip


def plain(dice: Draws, work: Workload, base: float) -> MadeJob:
    return _job(dice, made_tasks(dice, work), base, [])


def many_nodes(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.nodes = max(work.count // 4, 10)
    return _job(dice, made_tasks(dice, work), base, [])


def random_names(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.naming = random_ids
    return _job(dice, made_tasks(dice, work), base, [])


def thousands_of_parts(dice: Draws, work: Workload, base: float) -> MadeJob:
    values = max(work.count // 5, 5)
    work.naming = lambda dice, number, _: (f"s{dice.randrange(values)}-q{dice.randrange(50)}-{number}", ())
    return _job(dice, made_tasks(dice, work), base, [])


def bursts_of_starts(dice: Draws, work: Workload, base: float) -> MadeJob:
    tasks, fleet = made_tasks(dice, work)
    for task in tasks:
        task.start = task.start // (20 * MINUTE) * 20 * MINUTE + dice.randrange(5_000)
        task.creation = min(task.creation, task.start)
    return _job(dice, (tasks, fleet), base, [])


def autocorrelated(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.autocorrelated = True
    return _job(dice, made_tasks(dice, work), base, [])


def few_nodes(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.nodes = 3
    return _job(dice, made_tasks(dice, work), base, [])


def all_at_once(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.spread, work.naming = 0, numbered
    return _job(dice, made_tasks(dice, work), base, [])


NOTHING: tuple[Plant, ...] = (
    plain, many_nodes, random_names, thousands_of_parts, bursts_of_starts, autocorrelated, few_nodes, all_at_once,
)  # fmt: skip

_COUNTS, _BASES = (60, 150, 400, 1_000, 3_000, 8_000), (0.0, 0.01, 0.03, 0.06, 0.1)


def made_job(plant: Plant, seed: int, number: int, most: int | None = None) -> MadeJob:
    """Returns the job of a kind; size and base rate go round with the seed and the number of the job."""
    dice = Draws(f"{plant.__name__} {seed} {number}")
    count = 20_000 if (seed + number) % 40 == 39 else _COUNTS[(seed + number) % len(_COUNTS)]
    count = min(count, most or count)
    base = _BASES[(2 * seed + number // 2) % len(_BASES)]
    nodes = max(6, min(count // 12, dice.choice((20, 40, 80))))
    spread = dice.choice((6, 10)) * HOUR
    job = plant(dice, Workload(count, nodes=nodes, spread=spread, run=spread * nodes * 2 / count * 0.7), base)
    job.kind = plant.__name__
    return job
