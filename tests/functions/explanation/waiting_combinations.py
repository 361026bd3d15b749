"""Jobs that don't run for several reasons together, staged in the emulator."""

from typing import Any

from azure.batch import models

from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import (
    add_dependent,
    add_job,
    add_many_dependent,
    busy,
    dependent,
    scale,
    until,
    waiting,
)

NONE = "$TargetDedicatedNodes = 0;\n$NodeDeallocationOption = taskcompletion;"


async def empty(world: World, option: str = "taskcompletion") -> None:
    options = models.BatchPoolResizeOptions(
        target_dedicated_nodes=0, target_low_priority_nodes=0, node_deallocation_option=option
    )
    await world.batch.begin_resize_pool("pool", options)
    world.advance(30)


async def emptied_under_others(world: World) -> None:
    await busy(world)
    await empty(world)


async def emptied_under_itself(world: World) -> None:
    """Stages a node whose second slot is free, but accepts no more tasks."""
    await waiting(world, nodes=1, tasks=1)
    world.advance(120)
    await empty(world)
    await add_tasks(world.batch, 3, prefix="more")
    world.advance(30)


async def emptied_at_its_bound(world: World) -> None:
    await waiting(world, nodes=1, tasks=3, job={"max_parallel_tasks": 1})
    world.advance(120)
    await empty(world)


async def emptied_and_outranked(world: World) -> None:
    await emptied_under_others(world)
    await add_job(world, "urgent", priority=100)
    await add_tasks(world.batch, 5, job="urgent", command="sleep 100")
    world.advance(5)


async def emptied_by_formula(world: World) -> None:
    await busy(world)
    await scale(world, NONE)


async def emptied_and_disabled(world: World) -> None:
    await emptied_under_others(world)
    await disable(world)


async def emptied_behind_a_failure(world: World) -> None:
    await dependent(world)
    await add_job(world, "other")
    await add_tasks(world.batch, 1, job="other", command="sleep 3000")
    world.advance(20)
    await empty(world)


async def emptied_behind_a_running_task(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "first", command="sleep 3000")
    await add_dependent(world, "second", "first")
    world.advance(120)
    await empty(world)


async def emptying_that_was_stopped(world: World) -> None:
    """Stages nodes that wait for their tasks to end, and stay when the resize is stopped."""
    await busy(world)
    await empty(world)
    await world.batch.begin_stop_pool_resize("pool")
    world.advance(30)


async def behind_short_tasks(world: World, *, oldest_first: bool = False, **job: Any) -> None:
    """Stages slots that are free between one task of another job and the next."""
    await add_pool(world.batch, nodes=2, oldest_first=oldest_first)
    await add_job(world, "short", **job)
    await add_tasks(world.batch, 900, job="short", command="sleep 1")
    world.advance(150)
    await add_job(world)
    await add_tasks(world.batch, 50, command="sleep 1")
    world.advance(10)


async def behind_short_tasks_of_an_older_job(world: World) -> None:
    await behind_short_tasks(world, oldest_first=True)


async def behind_older_jobs(world: World) -> None:
    """Stages two older jobs of the same priority, and a younger one, on a pool that takes the oldest first."""
    await add_pool(world.batch, nodes=1, oldest_first=True)
    for name in ("old", "older", "job", "young"):
        await add_job(world, name)
        await add_tasks(world.batch, 207, job=name, command="sleep 3000")
        world.advance(60)


async def behind_short_urgent_tasks(world: World) -> None:
    await behind_short_tasks(world, priority=50)


async def on_a_node_that_just_started(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    await add_job(world, "urgent", priority=50)
    await add_tasks(world.batch, 300, job="urgent", command="sleep 60")
    await add_job(world)
    await add_tasks(world.batch, 50, command="sleep 60")
    pool = world.emulator.simulations["demo"].account.pools["pool"]
    for _ in range(600):
        world.advance(0.1)
        if any(node.is_usable for node in pool.nodes.values()):
            return
    raise AssertionError("no node started")


async def behind_urgent_tasks(world: World, **job: Any) -> None:
    """Stages a pool of one node and a job of higher priority, without its tasks."""
    await add_pool(world.batch, nodes=1)
    world.advance(120)
    await add_job(world, "urgent", priority=100, **job)


async def fill(world: World) -> None:
    await add_job(world, "other")
    await add_tasks(world.batch, 2, job="other", command="sleep 3000")
    world.advance(30)
    await add_job(world)
    await add_tasks(world.batch, 3)
    world.advance(10)


async def hold_urgent_tasks(world: World, tasks: int = 2) -> None:
    """Adds tasks of a job of higher priority that depend on a failed task."""
    await behind_urgent_tasks(world, uses_task_dependencies=True)
    task = models.BatchTaskCreateOptions(id="first", command_line="exit 3")
    await world.batch.create_task("urgent", task)
    world.advance(90)
    on = models.BatchTaskDependencies(task_ids=["first"])
    held = [
        models.BatchTaskCreateOptions(id=f"held-{number:02}", command_line="sleep 9", depends_on=on)
        for number in range(tasks)
    ]
    await world.batch.create_task_collection("urgent", models.BatchTaskGroup(task_values=held))


async def behind_urgent_tasks_held_for_good(world: World) -> None:
    await hold_urgent_tasks(world)
    await fill(world)


async def behind_several_urgent_jobs_held_for_good(world: World, jobs: int = 5) -> None:
    """Stages more such jobs than are checked if one of the first could start a task."""
    names = [f"urgent-{number:02}" for number in range(jobs)]
    await add_pool(world.batch, nodes=1)
    world.advance(120)
    for name in names:
        await add_job(world, name, priority=100, uses_task_dependencies=True)
        await world.batch.create_task(name, models.BatchTaskCreateOptions(id="first", command_line="exit 3"))
    world.advance(90)
    on = models.BatchTaskDependencies(task_ids=["first"])
    for name in names:
        task = models.BatchTaskCreateOptions(id="a", command_line="sleep 9", depends_on=on)
        await world.batch.create_task(name, task)
    await fill(world)


async def behind_urgent_tasks_too_large(world: World) -> None:
    await behind_urgent_tasks(world)
    task = models.BatchTaskCreateOptions(id="large", command_line="sleep 9", required_slots=3)
    await world.batch.create_task("urgent", task)
    await fill(world)


async def behind_urgent_tasks_at_their_bound(world: World) -> None:
    await behind_urgent_tasks(world, max_parallel_tasks=1)
    await add_tasks(world.batch, 20, job="urgent", command="sleep 3000")
    world.advance(10)
    await add_job(world, "other")
    await add_tasks(world.batch, 1, job="other", command="sleep 3000")
    world.advance(30)
    await add_job(world)
    await add_tasks(world.batch, 3)
    world.advance(10)


async def behind_urgent_tasks_whose_preparation_fails(world: World) -> None:
    preparation = models.BatchJobPreparationTask(command_line="/bin/sh -c 'exit 5'")
    await behind_urgent_tasks(world, job_preparation_task=preparation)
    await add_tasks(world.batch, 20, job="urgent", command="sleep 3000")
    world.advance(120)
    await fill(world)


async def growing_behind_urgent_tasks(world: World) -> None:
    """Stages new nodes that the tasks ahead of the job would fill."""
    await busy(world)
    await add_job(world, "urgent", priority=100)
    await add_tasks(world.batch, 90, job="urgent", command="sleep 3000")
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=5))
    world.advance(2)


async def own_pool_that_was_deleted(world: World) -> None:
    await own_pool(world)
    world.advance(120)
    (pool,) = [pool.id async for pool in world.batch.list_pools()]
    await world.batch.begin_delete_pool(pool)
    world.advance(60)


async def shrinking_and_full(world: World) -> None:
    await busy(world)
    options = models.BatchPoolResizeOptions(target_dedicated_nodes=1, node_deallocation_option="taskcompletion")
    await world.batch.begin_resize_pool("pool", options)
    world.advance(30)


async def behind_urgent_tasks_of_a_disabled_job(world: World) -> None:
    await behind_urgent_tasks(world)
    await world.batch.begin_disable_job("urgent", models.BatchJobDisableOptions(disable_tasks="requeue"))
    await add_tasks(world.batch, 20, job="urgent", command="sleep 3000")
    await fill(world)


async def send_away(world: World, verb: str) -> None:
    await waiting(world, nodes=2, tasks=0)
    world.advance(120)
    for node in list(world.emulator.simulations["demo"].account.pools["pool"].nodes.values()):
        option: Any = {f"node{verb.capitalize()}Option": "requeue"}
        await getattr(world.batch, f"begin_{verb}_node")("pool", node.id, option)
    await add_tasks(world.batch, 3)


async def rebooting(world: World) -> None:
    await send_away(world, "reboot")
    await until(world, "rebooting")


async def reimaging(world: World) -> None:
    await send_away(world, "reimage")
    await until(world, "reimaging")


async def deallocated(world: World) -> None:
    await send_away(world, "deallocate")
    await until(world, "deallocated")


async def in_a_cycle(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    for name, on in (("a", "b"), ("b", "c"), ("c", "a"), ("d", "c")):
        await add_dependent(world, name, on)
    world.advance(120)


async def on_itself(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "alone", "alone")
    world.advance(120)


async def behind_a_cycle(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_many_dependent(world, "held", *("z1" for _ in range(200)))
    await add_dependent(world, "z1", "z2")
    await add_dependent(world, "z2", "z1")
    world.advance(120)


async def in_a_cycle_on_a_full_pool(world: World) -> None:
    await busy(world)
    await world.batch.begin_delete_job("job")
    world.advance(30)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "a", "b")
    await add_dependent(world, "b", "a")
    world.advance(10)


async def behind_a_failure_far_away(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "first", command="exit 3")
    for name, on in (("second", "first"), ("third", "second"), ("fourth", "third")):
        await add_dependent(world, name, on)
    world.advance(120)


async def behind_a_wide_range(world: World, merge: str, last: int, *, fails: int = 0) -> None:
    """Stages a task with more dependencies than are checked one by one."""
    await add_pool(world.batch, nodes=20)
    await add_job(world, uses_task_dependencies=True)
    tasks = [
        models.BatchTaskCreateOptions(id=str(number), command_line="exit 3" if number == fails else "true")
        for number in range(1, 1101)
    ]
    for start in range(0, len(tasks), 100):
        await world.batch.create_task_collection("job", models.BatchTaskGroup(task_values=tasks[start : start + 100]))
    on = models.BatchTaskDependencies(task_id_ranges=[models.BatchTaskIdRange(start=1, end=last)])
    await world.batch.create_task("job", models.BatchTaskCreateOptions(id=merge, command_line="true", depends_on=on))
    world.advance(600)


async def behind_a_failure_in_a_wide_range(world: World) -> None:
    await behind_a_wide_range(world, "merge", 1100, fails=1050)


async def in_its_own_wide_range(world: World) -> None:
    await behind_a_wide_range(world, "1101", 1101)


async def held_beside_a_running_task(world: World) -> None:
    await dependent(world)
    await add_dependent(world, "long", command="sleep 3000")
    world.advance(20)


async def full_with_formula(world: World) -> None:
    await busy(world)
    await scale(world, "wanted = 1 + 1;\n$TargetDedicatedNodes = min(wanted, $PendingTasks.GetSample(1) * 0 + 2);")


async def full_with_formula_without_quota(world: World) -> None:
    world.emulator.settings.dedicatedNodeQuota = 1
    await waiting(world, nodes=0)
    await scale(world, "$TargetDedicatedNodes = 4;")
    world.advance(300)


async def disable(world: World, tasks: str = "requeue") -> None:
    await world.batch.begin_disable_job("job", models.BatchJobDisableOptions(disable_tasks=tasks))
    world.advance(10)


async def disabled_on_a_full_pool(world: World) -> None:
    await busy(world)
    await disable(world)


async def disabled_without_a_pool(world: World) -> None:
    await add_job(world)
    await add_tasks(world.batch, 3)
    await disable(world)


async def disabling(world: World) -> None:
    """Stages a disabled job whose tasks run to their end first."""
    await waiting(world)
    world.advance(120)
    await disable(world, "wait")


async def disabled_behind_a_failure(world: World) -> None:
    await dependent(world)
    await disable(world)


async def retried_for_ever(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world)
    await add_tasks(world.batch, 2, command="/bin/sh -c 'sleep 2; exit 7'", prefix="bad", retries=-1)
    world.advance(120)
    await add_tasks(world.batch, 5, command="sleep 5")
    world.advance(30)


async def own_pool(world: World, *, package: str = "tool", tasks: int = 3) -> None:
    """Stages a job that creates its own pool."""
    reference = models.BatchApplicationPackageReference(application_id=package, version="1")
    specification = models.BatchPoolSpecification(
        vm_size="standard_d2s_v5",
        task_slots_per_node=2,
        target_dedicated_nodes=2,
        application_package_references=[reference],
    )
    rules = models.BatchAutoPoolSpecification(pool_lifetime_option="job", pool=specification)
    info = models.BatchPoolInfo(auto_pool_specification=rules)
    await world.batch.create_job(models.BatchJobCreateOptions(id="job", pool_info=info))
    await add_tasks(world.batch, tasks, command="sleep 3000")


async def own_pool_beyond_the_quota(world: World) -> None:
    await add_pool(world.batch, "other", nodes=0)
    world.emulator.settings.poolQuota = 1
    await own_pool(world)
    world.advance(30)


async def own_pool_without_a_package(world: World) -> None:
    await own_pool(world, package="unknown-tool")
    world.advance(30)


async def own_pool_without_quota(world: World) -> None:
    world.emulator.settings.dedicatedNodeQuota = 1
    await add_pool(world.batch, "other", nodes=1)
    world.advance(120)
    await own_pool(world)
    world.advance(120)


async def package_missing(world: World) -> None:
    reference = models.BatchApplicationPackageReference(application_id="missing-tool", version="1")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="pool",
            vm_size="standard_d2s_v5",
            task_slots_per_node=2,
            target_dedicated_nodes=2,
            application_package_references=[reference],
        )
    )
    await add_job(world)
    await add_tasks(world.batch, 3)
    world.advance(120)


async def package_missing_in_its_own_pool(world: World) -> None:
    await own_pool(world, package="missing-tool")
    world.advance(120)


async def full_beside_an_empty_pool(world: World) -> None:
    """Stages another pool with all the free slots."""
    await add_pool(world.batch, "idle", nodes=3)
    await busy(world)


async def empty_beside_a_full_pool(world: World) -> None:
    await add_pool(world.batch, "full", nodes=1)
    info = models.BatchPoolInfo(pool_id="full")
    await world.batch.create_job(models.BatchJobCreateOptions(id="other", pool_info=info, priority=100))
    await add_tasks(world.batch, 50, job="other", command="sleep 3000")
    await waiting(world, nodes=0)
    world.advance(120)


async def of_a_schedule(world: World, *, nodes: int) -> None:
    await add_pool(world.batch, nodes=nodes)
    await add_job(world, "other")
    await add_tasks(world.batch, 2, job="other", command="sleep 3000")
    world.advance(120)
    manager = models.BatchJobManagerTask(id="manager", command_line="sleep 20", kill_job_on_completion=True)
    options = models.BatchJobScheduleCreateOptions(
        id="nightly",
        schedule=models.BatchJobScheduleConfiguration(),
        job_specification=models.BatchJobSpecification(
            pool_info=models.BatchPoolInfo(pool_id="pool"), job_manager_task=manager
        ),
    )
    await world.batch.create_job_schedule(options)
    world.advance(30)


async def of_a_schedule_on_a_full_pool(world: World) -> None:
    await of_a_schedule(world, nodes=1)


async def of_a_schedule_that_was_terminated(world: World) -> None:
    await of_a_schedule(world, nodes=1)
    await world.batch.begin_terminate_job_schedule("nightly")
    world.advance(30)


async def spot_nodes_taken_from_a_full_pool(world: World) -> None:
    """Stages more preempted spot nodes than full dedicated ones."""
    world.emulator.settings.preemptionSeconds = 1
    await add_pool(world.batch, nodes=1, spot=3)
    await add_job(world, "other")
    await add_tasks(world.batch, 2, job="other", command="sleep 3000")
    pool = world.emulator.simulations["demo"].account.pools["pool"]
    for _ in range(200):
        world.advance(2)
        if sum(node.state == "preempted" for node in pool.nodes.values()) == 3 and pool.node_count(dedicated=True):
            break
    await add_job(world)
    await add_tasks(world.batch, 3)
    world.advance(1)


async def preempted_in_a_pool_to_be_emptied(world: World) -> None:
    await spot_nodes_taken_from_a_full_pool(world)
    await empty(world)
