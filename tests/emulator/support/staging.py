"""Pools, jobs and tasks for tests, created through the official SDK."""

from azure.batch import models
from azure.batch.aio import BatchClient


async def add_pool(
    batch: BatchClient,
    name: str = "pool",
    *,
    nodes: int = 2,
    spot: int = 0,
    start: str = "",
    tries: int = 0,
    size: str = "standard_d2s_v5",
    slots: int = 2,
    oldest_first: bool = False,
    connected: bool = False,
) -> None:
    """Creates a pool; `start` is the command line of its start task, retried up to `tries` times (-1: forever).

    `oldest_first` is the order among jobs of equal priority, and `connected` lets multi-instance tasks run.
    """
    order = models.BatchJobDefaultOrder.CREATION_TIME if oldest_first else models.BatchJobDefaultOrder.NONE
    await batch.create_pool(
        models.BatchPoolCreateOptions(
            id=name,
            vm_size=size,
            target_dedicated_nodes=nodes,
            target_low_priority_nodes=spot,
            task_slots_per_node=slots,
            enable_inter_node_communication=connected,
            task_scheduling_policy=models.BatchTaskSchedulingPolicy(node_fill_type="spread", job_default_order=order),
            start_task=models.BatchStartTask(command_line=start, max_task_retry_count=tries) if start else None,
        )
    )


async def add_job(
    batch: BatchClient,
    name: str = "job",
    *,
    ends: bool = False,
    pool: str = "pool",
    priority: int | None = None,
    most: int | None = None,
) -> None:
    mode = models.BatchAllTasksCompleteMode.TERMINATE_JOB if ends else None
    where = models.BatchPoolInfo(pool_id=pool)
    await batch.create_job(
        models.BatchJobCreateOptions(
            id=name, pool_info=where, all_tasks_complete_mode=mode, priority=priority, max_parallel_tasks=most
        )
    )


async def add_tasks(
    batch: BatchClient,
    count: int,
    *,
    job: str = "job",
    command: str = "sleep 10",
    prefix: str = "task",
    retries: int = 0,
    instances: int = 0,
) -> None:
    """Adds tasks, with `instances` multi-instance ones."""
    several = models.MultiInstanceSettings(coordination_command_line="true", number_of_instances=instances)
    for start in range(0, count, 100):
        tasks = [
            models.BatchTaskCreateOptions(
                id=f"{prefix}-{number:05}",
                command_line=command,
                constraints=models.BatchTaskConstraints(max_task_retry_count=retries),
                multi_instance_settings=several if instances else None,
            )
            for number in range(start, min(count, start + 100))
        ]
        await batch.create_task_collection(job, models.BatchTaskGroup(task_values=tasks))
