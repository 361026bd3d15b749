"""Pools whose slots are taken, and the jobs that wait for them, staged in the emulator."""

from dataclasses import dataclass

from azure.batch import models
from azure.batch.aio import BatchClient

from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World

LONG = "sleep 100000"
_LOWEST, _AT_ONCE = -1000, 100


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job and its tasks, with `slots` in this order again and again; `most` is its maxParallelTasks, 0 for none.

    `runs` of its tasks run already, on free slots, and end at different times. All tasks but the one with the id `held`
    depend on that.
    """

    name: str
    priority: int = 0
    tasks: int = 25
    slots: tuple[int, ...] = (1,)
    command: str = "sleep 20"
    most: int = 0
    runs: int = 0
    disabled: bool = False
    held: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """A pool, and the jobs on it from the oldest to the youngest.

    All slots but `free` ones, where tasks of the jobs may run, are taken by tasks that need `held` of them each and end
    at different times. With `yields` they don't end, but their job allows preemption. It has the lowest priority.
    """

    jobs: tuple[Waiting, ...]
    nodes: int = 2
    slots: int = 2
    free: int = 0
    held: int = 1
    oldest_first: bool = False
    yields: bool = False


def _jobs(*jobs: Waiting) -> tuple[Waiting, ...]:
    return jobs


_ABC = _jobs(Waiting("c"), Waiting("a"), Waiting("b"))
STAGES: dict[str, Stage] = {
    "two jobs of equal priority": Stage(_jobs(Waiting("b"), Waiting("a"))),
    "five jobs of equal priority": Stage(tuple(Waiting(name) for name in "ecadb"), nodes=3),
    "a higher one beside three equal ones": Stage(_jobs(*_ABC, Waiting("high", 5, tasks=8))),
    "three priorities": Stage(_jobs(Waiting("low", -5), Waiting("high", 5, tasks=7), Waiting("mid", tasks=6))),
    "two levels of two jobs": Stage(
        _jobs(Waiting("d"), Waiting("b", 9, tasks=5), Waiting("c"), Waiting("a", 9, tasks=5)), slots=4
    ),
    "an equal job with few tasks": Stage(_jobs(Waiting("few", tasks=3), Waiting("many"), Waiting("more"))),
    "the oldest of three first": Stage(_ABC, oldest_first=True),
    "the oldest first, and its tasks end": Stage(
        _jobs(Waiting("c", tasks=6), Waiting("a", tasks=6), Waiting("b")), oldest_first=True
    ),
    "a younger one of higher priority": Stage(_jobs(*_ABC, Waiting("high", 1, tasks=9)), oldest_first=True),
    "two ages at two levels": Stage(
        _jobs(Waiting("d"), Waiting("b", 9, tasks=6), Waiting("c"), Waiting("a", 9, tasks=6)), oldest_first=True
    ),
    "the oldest is disabled": Stage(_jobs(Waiting("off", disabled=True), *_ABC), oldest_first=True),
    "a higher one is disabled": Stage(_jobs(*_ABC, Waiting("off", 100, disabled=True))),
    "a higher one at its bound": Stage(_jobs(*_ABC, Waiting("bound", 100, command=LONG, most=2)), nodes=4),
    "the oldest at its bound": Stage(_jobs(Waiting("bound", command=LONG, most=1), *_ABC), oldest_first=True),
    "a higher one that will be at its bound": Stage(_jobs(*_ABC, Waiting("bound", 100, most=2)), nodes=4),
    "a higher one whose tasks end at its bound": Stage(_jobs(*_ABC, Waiting("bound", 100, most=2, runs=2)), free=2),
    "the oldest, whose tasks end at its bound": Stage(
        _jobs(Waiting("bound", most=1, runs=1), *_ABC), free=1, oldest_first=True
    ),
    "an equal one whose tasks end at its bound": Stage(_jobs(*_ABC, Waiting("bound", most=2, runs=2)), free=2),
    "a lower one whose tasks end at its bound": Stage(
        _jobs(Waiting("a", tasks=6), Waiting("bound", -5, most=2, runs=2)), free=2
    ),
    "a higher one at its bound on all slots": Stage(
        _jobs(*_ABC, Waiting("bound", 100, tasks=12, most=4, runs=4)), free=4
    ),
    "two at their bounds": Stage(
        _jobs(*_ABC, Waiting("one", 9, tasks=9, most=2, runs=2), Waiting("two", 5, tasks=9, most=1, runs=1)), free=3
    ),
    "running tasks give way": Stage(_jobs(Waiting("b", 5), Waiting("a", 5)), yields=True),
    "running tasks give way to the highest": Stage(_jobs(Waiting("low"), Waiting("high", 5)), yields=True, nodes=3),
    "tasks of two slots": Stage(_jobs(Waiting("b", slots=(2,)), Waiting("a", slots=(2,))), slots=4, held=2),
    "tasks too wide for a node": Stage(_jobs(Waiting("wide", 100, slots=(4,)), *_ABC)),
    "narrow tasks pass wide ones": Stage(
        _jobs(Waiting("wide", slots=(4,)), Waiting("narrow")), slots=4, oldest_first=True
    ),
    "wide tasks on whole nodes": Stage(
        _jobs(Waiting("wide", slots=(2,), tasks=8), Waiting("narrow")), held=2, oldest_first=True
    ),
    "some of the highest too wide for a node": Stage(_jobs(*_ABC, Waiting("some", 100, slots=(4, 1), tasks=12))),
    "most of the highest too wide for a node": Stage(
        _jobs(*_ABC, Waiting("most", 100, slots=(4,) * 9 + (1,), tasks=20))
    ),
    "the first hundred of the highest too wide": Stage(
        _jobs(*_ABC, Waiting("first", 100, slots=(4,) * 100 + (1,) * 20, tasks=120))
    ),
    "the first hundred of the highest fit": Stage(
        _jobs(*_ABC, Waiting("first", 100, slots=(1,) * 4 + (2,) * 96 + (4,) * 20, tasks=120)), held=2
    ),
    "all of the highest too wide, two hundred": Stage(_jobs(*_ABC, Waiting("all", 100, slots=(4, 6), tasks=200))),
    "some of an equal one too wide for a node": Stage(_jobs(*_ABC, Waiting("some", slots=(1, 4), tasks=12))),
    "some of the oldest too wide for a node": Stage(
        _jobs(Waiting("some", slots=(4, 1), tasks=12), *_ABC), oldest_first=True
    ),
    "some too wide of one at its bound": Stage(
        _jobs(*_ABC, Waiting("bound", 100, slots=(1, 1, 4), most=2, runs=2)), free=2
    ),
    "two widths in a job on whole nodes": Stage(
        _jobs(Waiting("both", slots=(2, 1), tasks=12), Waiting("narrow")), held=2, oldest_first=True
    ),
    "two widths in a job that narrow tasks pass": Stage(
        _jobs(Waiting("both", slots=(2, 3), tasks=12), Waiting("narrow")), slots=4, oldest_first=True
    ),
    "dependencies of the oldest": Stage(_jobs(Waiting("held", command=LONG, held="t000"), *_ABC), oldest_first=True),
    "dependencies on a task that ends": Stage(_jobs(Waiting("held", held="t000"), *_ABC), oldest_first=True),
    "dependencies of the highest on a missing task": Stage(_jobs(*_ABC, Waiting("stuck", 100, held="none"))),
    "free slots": Stage(_jobs(Waiting("low", -5), *_ABC, Waiting("high", 5, tasks=4)), nodes=7, free=10),
}


async def stage_all(world: World) -> None:
    """Stages all pools, p0 and so on; no time has passed since the tasks of the waiting jobs were added."""
    stages = list(enumerate(STAGES.values()))
    for number, stage in stages:
        await add_pool(world.batch, f"p{number}", nodes=stage.nodes, slots=stage.slots, oldest_first=stage.oldest_first)
        await _add_job(world.batch, number, Waiting("holder", _LOWEST), yields=stage.yields)
    world.advance(200)
    for number, stage in stages:
        times = [40 + 7 * each for each in range((stage.nodes * stage.slots - stage.free) // stage.held)]
        commands = [LONG if stage.yields else f"sleep {seconds}" for seconds in times]
        await _add_tasks(world.batch, number, Waiting("holder", slots=(stage.held,)), commands)
    for place in range(max(len(stage.jobs) for _, stage in stages)):
        for number, stage in stages:
            for job in stage.jobs[place : place + 1]:
                await _add_job(world.batch, number, job)
        world.advance(2)
    jobs = [(number, job) for number, stage in stages for job in stage.jobs]
    for number, job in [each for each in jobs if each[1].disabled]:
        await world.batch.begin_disable_job(
            f"p{number}-{job.name}", models.BatchJobDisableOptions(disable_tasks="wait")
        )
    world.advance(10)
    for number, job in jobs:
        await _add_tasks(world.batch, number, job, [f"sleep {30 + 7 * each}" for each in range(job.runs)])
    world.advance(10)
    for number, job in jobs:
        await _add_tasks(world.batch, number, job, [job.command] * job.tasks, first=job.runs)


async def _add_job(batch: BatchClient, pool: int, job: Waiting, *, yields: bool = False) -> None:
    await batch.create_job(
        models.BatchJobCreateOptions(
            id=f"p{pool}-{job.name}",
            pool_info=models.BatchPoolInfo(pool_id=f"p{pool}"),
            priority=job.priority,
            max_parallel_tasks=job.most or -1,
            uses_task_dependencies=bool(job.held),
            allow_task_preemption=yields,
        )
    )


async def _add_tasks(batch: BatchClient, pool: int, job: Waiting, commands: list[str], *, first: int = 0) -> None:
    if not commands:
        return
    held = models.BatchTaskDependencies(task_ids=[job.held])
    tasks = [
        models.BatchTaskCreateOptions(
            id=f"t{number:03}",
            command_line=command,
            required_slots=job.slots[number % len(job.slots)],
            depends_on=held if job.held not in ("", f"t{number:03}") else None,
        )
        for number, command in enumerate(commands, first)
    ]
    for start in range(0, len(tasks), _AT_ONCE):
        group = models.BatchTaskGroup(task_values=tasks[start : start + _AT_ONCE])
        await batch.create_task_collection(f"p{pool}-{job.name}", group)
