"""Converts plans to the SDK's models."""

from datetime import timedelta

from azure.batch import models

from local.workload.scenario import JobPlan, PoolPlan, SchedulePlan, TaskPlan

_IMAGE = models.BatchVmImageReference(publisher="canonical", offer="ubuntu-24_04-lts", sku="server", version="latest")
_AGENT = "batch.node.ubuntu 24.04"


def pool_options(plan: PoolPlan) -> models.BatchPoolCreateOptions:
    start = models.BatchStartTask(command_line=plan.start_task, wait_for_success=True) if plan.start_task else None
    options = models.BatchPoolCreateOptions(
        id=plan.id,
        vm_size=plan.vm_size,
        virtual_machine_configuration=models.VirtualMachineConfiguration(
            image_reference=_IMAGE, node_agent_sku_id=_AGENT
        ),
        target_dedicated_nodes=plan.dedicated,
        target_low_priority_nodes=plan.spot,
        task_slots_per_node=plan.slots,
        start_task=start,
        metadata=[models.BatchMetadataItem(name="telemetry", value="agent")] if plan.has_agent else None,
    )
    if plan.mixed_sizes:  # of an API version that the SDK has no models for
        sizes = [{"name": size} for size in plan.mixed_sizes]
        options["vmSkuProfile"] = {"vmSizes": sizes, "allocationStrategy": "capacityOptimized"}
    return options


def job_options(plan: JobPlan) -> models.BatchJobCreateOptions:
    return models.BatchJobCreateOptions(
        id=plan.id,
        display_name=plan.name,
        priority=plan.priority,
        pool_info=models.BatchPoolInfo(pool_id=plan.pool),
    )


def schedule_options(plan: SchedulePlan) -> models.BatchJobScheduleCreateOptions:
    job = plan.job
    return models.BatchJobScheduleCreateOptions(
        id=plan.id,
        display_name=job.name,
        schedule=models.BatchJobScheduleConfiguration(
            recurrence_interval=timedelta(seconds=plan.interval),
            start_window=timedelta(seconds=plan.window) if plan.window else None,
        ),
        job_specification=models.BatchJobSpecification(
            display_name=job.name, priority=job.priority, pool_info=models.BatchPoolInfo(pool_id=job.pool)
        ),
    )


def task_options(plan: TaskPlan) -> models.BatchTaskCreateOptions:
    files = [models.ResourceFile(http_url=plan.missing_file, file_path="input")] if plan.missing_file else None
    constraints = models.BatchTaskConstraints(max_task_retry_count=plan.retries) if plan.retries else None
    return models.BatchTaskCreateOptions(
        id=plan.id, command_line=plan.command_line, resource_files=files, constraints=constraints
    )
