"""Jobs that don't run, staged in the emulator: each with the cause expected first."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from azure.batch import models

from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World, begin_anew

_WRONG = "$TargetDedicatedNodes = avg($ActiveTasks.GetSample(TimeInterval_Hour * 5, 99));"
EXPLANATION = "accounts/demo/jobs/job/explanation"

type Stage = Callable[[World], Awaitable[None]]


async def emptied(world: World) -> World:
    """Returns an empty account that each tick polls, without preemption of spot nodes."""
    await begin_anew(world, poll_seconds=1)
    knobs = world.emulator.settings
    knobs.preemptionSeconds = knobs.nodeLossSeconds = 0
    knobs.dedicatedNodeQuota = knobs.poolQuota = 0
    return world


async def explained(world: World, *, poll: bool = True, job: str = "job") -> dict[str, Any]:
    if poll:
        await world.app.fire("tick")
    found = await world.get(f"accounts/demo/jobs/{job}/explanation")
    assert found.status == 200, found.body
    assert isinstance(found.body, dict)
    return found.body


async def add_job(world: World, name: str = "job", **options: Any) -> None:
    pool = models.BatchPoolInfo(pool_id="pool")
    await world.batch.create_job(models.BatchJobCreateOptions(id=name, pool_info=pool, **options))


async def waiting(
    world: World, *, nodes: int = 1, tasks: int = 6, job: dict[str, Any] | None = None, **pool: Any
) -> None:
    """Stages a pool of nodes with two slots each, and a job on it with long tasks."""
    await add_pool(world.batch, nodes=nodes, **pool)
    await add_job(world, **(job or {}))
    await add_tasks(world.batch, tasks, command="sleep 3000")


async def disabled(world: World) -> None:
    await waiting(world)
    world.advance(120)
    await world.batch.begin_disable_job("job", models.BatchJobDisableOptions(disable_tasks="requeue"))
    world.advance(10)


async def terminating(world: World) -> None:
    await waiting(world)
    world.advance(120)
    reason: Any = {"terminateReason": "enough"}
    await world.batch.begin_terminate_job("job", reason)
    world.advance(30)


async def expired(world: World) -> None:
    await waiting(world, job={"constraints": models.BatchJobConstraints(max_wall_clock_time=timedelta(minutes=5))})
    world.advance(600)


async def without_pool(world: World) -> None:
    await waiting(world)
    world.advance(120)
    await world.batch.begin_delete_pool("pool")
    world.advance(60)


async def pool_going(world: World) -> None:
    await waiting(world)
    world.advance(120)
    await world.batch.begin_delete_pool("pool")


async def resizing(world: World) -> None:
    await waiting(world, nodes=2)
    world.advance(1)


async def without_quota(world: World) -> None:
    world.emulator.settings.dedicatedNodeQuota = 1
    await add_pool(world.batch, "other", nodes=1)
    world.advance(120)
    await waiting(world, nodes=3)
    world.advance(120)


async def without_quota_for_more(world: World) -> None:
    """Stages one unusable node, and no quota for the others."""
    world.emulator.settings.dedicatedNodeQuota = world.emulator.settings.nodeLossSeconds = 1
    await waiting(world, nodes=5)
    await until(world, "unusable")


async def busy(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    await add_job(world, "other")
    await add_tasks(world.batch, 4, job="other", command="sleep 3000")
    world.advance(120)
    await add_job(world)
    await add_tasks(world.batch, 3, command="sleep 10")
    world.advance(30)


async def start_fails(world: World) -> None:
    await waiting(world, nodes=2, start="/bin/sh -c 'sleep 3; exit 7'")
    world.advance(120)


async def start_fails_for_ever(world: World) -> None:
    await waiting(world, nodes=2, start="/bin/sh -c 'sleep 3; exit 7'", tries=-1)
    world.advance(300)


async def until(world: World, state: str) -> None:
    """Advances until all nodes of the pool are in a state."""
    for _ in range(60):
        world.advance(5)
        nodes = world.emulator.simulations["demo"].account.pools["pool"].nodes.values()
        if nodes and {node.state for node in nodes} == {state}:
            return
    raise AssertionError(f"never all {state}")


async def unusable(world: World) -> None:
    world.emulator.settings.nodeLossSeconds = 1
    await waiting(world, nodes=2)
    await until(world, "unusable")


async def preempted(world: World) -> None:
    world.emulator.settings.preemptionSeconds = 1
    await waiting(world, nodes=0, spot=2)
    await until(world, "preempted")


async def add_dependent(world: World, name: str, *on: str, command: str = "sleep 10", **more: Any) -> None:
    depends = models.BatchTaskDependencies(task_ids=list(on)) if on else None
    task = models.BatchTaskCreateOptions(id=name, command_line=command, depends_on=depends, **more)
    await world.batch.create_task("job", task)


async def add_many_dependent(world: World, prefix: str, *on: str | None) -> None:
    """Adds tasks `prefix-0000` and so on, each dependent on one other task or none."""
    tasks = [
        models.BatchTaskCreateOptions(
            id=f"{prefix}-{number:04}",
            command_line="true",
            depends_on=models.BatchTaskDependencies(task_ids=[other]) if other else None,
        )
        for number, other in enumerate(on)
    ]
    for start in range(0, len(tasks), 100):
        await world.batch.create_task_collection("job", models.BatchTaskGroup(task_values=tasks[start : start + 100]))


async def dependent(world: World) -> None:
    """Stages tasks that depend on a failed task, and one that depends on a missing task."""
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "first", command="exit 3")
    for name in ("a", "b", "c"):
        await add_dependent(world, name, "first")
    await add_dependent(world, "d", "nobody")
    world.advance(120)


async def one_after_the_other(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "first", command="sleep 3000")
    for name in ("a", "b"):
        await add_dependent(world, name, "first")
    world.advance(120)


async def dependents_first(world: World) -> None:
    """Stages more waiting tasks than are checked; they depend on tasks later by id, which only lack nodes."""
    await add_pool(world.batch, nodes=0)
    await add_job(world, uses_task_dependencies=True)
    names = [f"{number:04}" for number in range(1000)]
    await add_many_dependent(world, "split", *(None for _ in names))
    await add_many_dependent(world, "merge", *(f"split-{name}" for name in names))
    world.advance(60)


async def bounded(world: World) -> None:
    await waiting(world, nodes=3, job={"max_parallel_tasks": 2})
    world.advance(120)


async def outranked(world: World) -> None:
    await busy(world)
    await add_job(world, "urgent", priority=100)
    await add_tasks(world.batch, 5, job="urgent", command="sleep 100")
    world.advance(5)


async def unprepared(world: World) -> None:
    preparation = models.BatchJobPreparationTask(command_line="/bin/sh -c 'sleep 1; exit 5'")
    await waiting(world, nodes=2, job={"job_preparation_task": preparation})
    world.advance(200)


async def prepared_or_not(world: World) -> None:
    """Stages a failed preparation for which Batch doesn't wait: tasks ran on the node, which other tasks fill now."""
    preparation = models.BatchJobPreparationTask(command_line="/bin/sh -c 'exit 5'", wait_for_success=False)
    await add_pool(world.batch, nodes=1)
    await add_job(world, job_preparation_task=preparation)
    await add_tasks(world.batch, 4, command="sleep 5", prefix="early")
    world.advance(200)
    await add_job(world, "other")
    await add_tasks(world.batch, 2, job="other", command="sleep 3000")
    world.advance(30)
    await add_tasks(world.batch, 3)
    world.advance(30)


async def scale(world: World, formula: str) -> None:
    options = models.BatchPoolEnableAutoScaleOptions(auto_scale_formula=formula)
    await world.batch.enable_pool_auto_scale("pool", options)
    world.advance(60)


async def wrong_formula(world: World) -> None:
    await waiting(world, nodes=0)
    await scale(world, _WRONG)


async def wrong_formula_without_quota(world: World) -> None:
    """Stages a pool with a wrong formula, which keeps its target, and too little quota for its nodes."""
    await without_quota(world)
    await scale(world, _WRONG)


async def scaled_to_none(world: World) -> None:
    await waiting(world, nodes=0)
    await scale(world, "$TargetDedicatedNodes = 0;")


async def no_nodes_wanted(world: World) -> None:
    await waiting(world, nodes=0)
    world.advance(60)


async def shut(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(120)
    for node in list(world.emulator.simulations["demo"].account.pools["pool"].nodes.values()):
        options = models.BatchNodeDisableSchedulingOptions(node_disable_scheduling_option="requeue")
        await world.batch.disable_node_scheduling("pool", node.id, options)
    await add_job(world)
    await add_tasks(world.batch, 3)
    world.advance(30)


async def draining(world: World, *, nodes: int = 2) -> None:
    """Stages full nodes that finish their tasks and accept no more: Batch reports them as running."""
    await add_pool(world.batch, nodes=nodes)
    await add_job(world, "other")
    await add_tasks(world.batch, 2 * nodes, job="other", command="sleep 3000")
    world.advance(120)
    for node in list(world.emulator.simulations["demo"].account.pools["pool"].nodes.values())[:2]:
        options = models.BatchNodeDisableSchedulingOptions(node_disable_scheduling_option="taskcompletion")
        await world.batch.disable_node_scheduling("pool", node.id, options)
    await add_job(world)
    await add_tasks(world.batch, 3)
    world.advance(30)


async def mostly_draining(world: World) -> None:
    await draining(world, nodes=3)


async def too_large(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world)
    task = models.BatchTaskCreateOptions(id="large", command_line="sleep 5", required_slots=3)
    await world.batch.create_task("job", task)
    world.advance(120)


async def slow_start(world: World) -> None:
    await waiting(world, start="/bin/sh -c 'sleep 3000'")
    world.advance(120)
