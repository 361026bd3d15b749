"""Jobs with planted causes of further kinds, written after the measure was settled, to try it on causes it never saw.

Some concern only the tasks of a combination, such as those on spot nodes in one hour; either part of it is right then.
"""

from tests.domain.contrasts.made_jobs import HOUR, MINUTE, Draws, MadeJob, MadeTask, Workload, made_tasks
from tests.domain.contrasts.planted_jobs import Plant, _busy_node, _job, _quantile, _rate

_FAMILIES = ("standard_d4s_v5", "standard_d4as_v5", "standard_f8s_v2", "standard_e8s_v5")


def _starts(made: list[MadeTask]) -> list[int]:
    return [task.start for task in made]


def hour_of_each_day(dice: Draws, work: Workload, base: float) -> MadeJob:
    """A job of four days whose share is backed up at the same hour each night."""
    work.spread, work.run, work.count = 96 * HOUR, work.run * 8, max(work.count, 400)
    made = made_tasks(dice, work)
    hour = made[0][work.count // 2].start // HOUR % 24
    return _job(dice, made, base, ["hourOfDay"], (lambda task: task.start // HOUR % 24 == hour, _rate(dice, base)))


def image_with_its_agent(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        image, agent = ("debian 12.2", "2.0.1") if number % 3 == 0 else ("debian 12.1", "1.9.9")
        node.traits = node.traits._replace(image=image, agent=agent)
    concerns = (lambda task: task.node.traits.agent == "2.0.1", _rate(dice, base))
    return _job(dice, made, base, ["image", "nodeAgent"], concerns)


def two_of_four_vm_sizes(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.nodes = max(work.nodes, 12)
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(vm_size=_FAMILIES[number % 4])
    bad = set(_FAMILIES[1:3])
    return _job(dice, made, base, ["vmSize"], (lambda task: task.node.traits.vm_size in bad, _rate(dice, base)))


def pool_with_a_size_of_its_own(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.pools, work.nodes = 4, max(work.nodes, 12)
    made = made_tasks(dice, work)
    for node in made[1].nodes:
        node.traits = node.traits._replace(vm_size=_FAMILIES[int(node.pool[-1]) - 1])
    concerns = (lambda task: task.node.pool == "pool-4", _rate(dice, base))
    return _job(dice, made, base, ["pool", "vmSize"], concerns)


def node_from_a_moment_on(dice: Draws, work: Workload, base: float) -> MadeJob:
    """A node whose disk is full after a third of the time."""
    made = made_tasks(dice, work)
    bad, since = _busy_node(made[0]), _quantile(_starts(made[0]), 0.33)
    return _job(dice, made, base, ["node"], (lambda task: task.node.id == bad and task.start >= since, 0.97))


def nodes_of_a_rack(dice: Draws, work: Workload, base: float) -> MadeJob:
    work.count, work.nodes = max(work.count, 400), max(work.nodes, 20)
    made = made_tasks(dice, work)
    bad = {_busy_node(made[0], at) for at in range(3)}
    return _job(dice, made, base, ["node"], (lambda task: task.node.id in bad, _rate(dice, base)))


def before_the_licences(dice: Draws, work: Workload, base: float) -> MadeJob:
    """The licence server answers after a seventh of the tasks have started."""
    made = made_tasks(dice, work)
    until = _quantile(_starts(made[0]), 0.15)
    expected = ["start", "position", "idPart4", "startHour"]
    return _job(dice, made, base, expected, (lambda task: task.start < until, 0.93))


def token_of_an_hour(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Tasks fail when they upload, after their token has expired; they aren't cut off."""
    made = made_tasks(dice, work)
    bound = _quantile([task.span for task in made[0]], 0.83)
    return _job(dice, made, base, ["runTime"], (lambda task: task.span >= bound, _rate(dice, base)))


def gpu_memory_of_some(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.measured = dice.random() < 0.7
    bound = _quantile([task.gpu_memory for task in made[0]], 0.8)
    return _job(dice, made, base, ["gpuMemoryPeak"], (lambda task: task.gpu_memory >= bound, _rate(dice, base)))


def often_retried(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.retries = min(int(dice.expovariate(0.8)), 6)
    return _job(dice, made, base, ["retries"], (lambda task: task.retries >= 3, _rate(dice, base)))


def stage_of_a_pipeline(dice: Draws, work: Workload, base: float) -> MadeJob:
    stages = ("fetch", "align", "sort", "call", "report")
    work.naming = lambda _dice, number, _: (f"{stages[number % 5]}-{number // 5:05d}", (stages[number % 5],))
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart1"], (lambda task: task.parts[0] == "call", _rate(dice, base)))


def one_chromosome(dice: Draws, work: Workload, base: float) -> MadeJob:
    names = [*map(str, range(1, 23)), "X", "Y"]
    work.count = max(work.count, 800)
    work.naming = lambda dice, number, _: ((which := dice.choice(names)) and f"chr{which}-part{number}", (which,))
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart1"], (lambda task: task.parts[0] == "X", _rate(dice, base)))


def large_batches_of_a_sweep(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Ids of a search of parameters: the two largest batch sizes fail."""
    sizes, rates = (16, 32, 64, 128, 256, 512), (1, 3, 10, 30)

    def named(dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
        size = dice.choice(sizes)
        return f"lr{dice.choice(rates)}_bs{size}_run{number}", (size,)

    work.naming = named
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart4"], (lambda task: task.parts[0] in (256, 512), _rate(dice, base)))


def day_in_the_id(dice: Draws, work: Workload, base: float) -> MadeJob:
    def named(dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
        day = dice.randrange(1, 11)
        return f"obs_2026-03-{day:02d}_{number}", (day,)

    work.naming = named
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart4"], (lambda task: task.parts[0] == 7, _rate(dice, base)))


def column_of_a_plate(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Ids of wells, such as `plate3-C07-0042`: those in a column at the edge have dried up."""

    def named(dice: Draws, number: int, _count: int) -> tuple[str, tuple[object, ...]]:
        column = dice.randrange(1, 13)
        return f"plate{dice.randrange(1, 5)}-{dice.choice('ABCDEFGH')}{column:02d}-{number:04d}", (column,)

    work.naming = named
    made = made_tasks(dice, work)
    return _job(dice, made, base, ["idPart4"], (lambda task: task.parts[0] == 12, _rate(dice, base)))


def whole_nodes(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.slots = dice.choice((1,) * 6 + (8,))
    return _job(dice, made, base, ["slots"], (lambda task: task.slots == 8, _rate(dice, base)))


def spot_in_an_outage(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(dedicated=number % 2 > 0)
    begin, end = (_quantile(_starts(made[0]), share) for share in (0.4, 0.7))
    concerns = (lambda task: not task.node.traits.dedicated and begin <= task.start < end, 0.95)
    return _job(dice, made, base, ["priority", "start", "startHour", "position"], concerns)


def memory_on_the_small_size(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for number, node in enumerate(made[1].nodes):
        node.traits = node.traits._replace(vm_size=_FAMILIES[number % 2])
    bound = _quantile([task.memory for task in made[0]], 0.65)
    concerns = (lambda task: task.memory >= bound and task.node.traits.vm_size == _FAMILIES[0], 0.95)
    return _job(dice, made, base, ["memoryPeak", "vmSize"], concerns)


def image_of_nodes_added_later(dice: Draws, work: Workload, base: float) -> MadeJob:
    """A pool grows by half at noon; the new nodes have a new image."""
    tasks, fleet = made_tasks(dice, work)
    noon = _quantile(_starts(tasks), 0.4)
    later = fleet.nodes[::3]
    for node in fleet.nodes:
        node.traits = node.traits._replace(image="noble 1" if node in later else "jammy 9")
    others = [node for node in fleet.nodes if node not in later]
    for task in tasks:
        if task.start < noon and task.node in later:
            task.node = dice.choice(others)
    return _job(dice, (tasks, fleet), base, ["image"], (lambda task: task.node in later, _rate(dice, base)))


def middle_of_the_job(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Inputs in the middle of the list are damaged; ids say nothing, and starts follow a shuffled order."""
    work.naming = lambda dice, _number, _count: (f"{dice.getrandbits(128):032x}", ())
    tasks, fleet = made_tasks(dice, work)
    starts, first = _starts(tasks), tasks[0].creation - HOUR
    dice.shuffle(starts)
    for task, start in zip(tasks, starts, strict=True):
        task.start, task.creation = start, first + task.number
    low, high = work.count * 0.45, work.count * 0.6
    return _job(dice, (tasks, fleet), base, ["position"], (lambda task: low <= task.number < high, _rate(dice, base)))


def preempted_twice(dice: Draws, work: Workload, base: float) -> MadeJob:
    made = made_tasks(dice, work)
    for task in made[0]:
        task.requeues = dice.choice((0,) * 8 + (1, 1, 2, 3))
    return _job(dice, made, base, ["requeues"], (lambda task: task.requeues >= 2, _rate(dice, base)))


def link_that_expires_in_the_queue(dice: Draws, work: Workload, base: float) -> MadeJob:
    """Tasks come in waves; a link to their input expires half an hour after their creation."""
    made = made_tasks(dice, work)
    for task in made[0]:
        task.creation = task.start - round(dice.expovariate(1 / (15 * MINUTE)))
    return _job(dice, made, base, ["wait"], (lambda task: task.wait >= 30 * MINUTE, _rate(dice, base)))


HELD_OUT: tuple[Plant, ...] = (
    hour_of_each_day, image_with_its_agent, two_of_four_vm_sizes, pool_with_a_size_of_its_own, node_from_a_moment_on,
    nodes_of_a_rack, before_the_licences, token_of_an_hour, gpu_memory_of_some, often_retried, stage_of_a_pipeline,
    one_chromosome, large_batches_of_a_sweep, day_in_the_id, column_of_a_plate, whole_nodes, spot_in_an_outage,
    memory_on_the_small_size, image_of_nodes_added_later, middle_of_the_job, preempted_twice,
    link_that_expires_in_the_queue,
)  # fmt: skip
