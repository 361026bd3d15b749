"""A schedule's job specification, as far as it may be shown: these classes are the allowlist of properties.

Of other properties only the names are shown; `shared/domain/tasks/task_secrets.py` removes secrets from the allowed
ones. Fields are named as in the REST API (2025-06-01); durations stay as the service writes them.
"""

from shared.domain.tasks.task_details import (
    ApplicationPackage,
    Constraints,
    ContainerSettings,
    EnvironmentSetting,
    OutputFile,
    ResourceFile,
    ShownProperties,
    TokenSettings,
    UserIdentity,
)


class SideTask(ShownProperties):
    """A job's preparation or release task."""

    id: str | None = None
    command_line: str | None = None
    container_settings: ContainerSettings | None = None
    resource_files: list[ResourceFile] | None = None
    environment_settings: list[EnvironmentSetting] | None = None
    constraints: Constraints | None = None
    user_identity: UserIdentity | None = None
    wait_for_success: bool | None = None
    rerun_on_node_reboot_after_success: bool | None = None
    max_wall_clock_time: str | None = None
    retention_time: str | None = None


class JobManagerTask(ShownProperties):
    """The first task of a job, which adds the others."""

    id: str | None = None
    display_name: str | None = None
    command_line: str | None = None
    container_settings: ContainerSettings | None = None
    resource_files: list[ResourceFile] | None = None
    output_files: list[OutputFile] | None = None
    environment_settings: list[EnvironmentSetting] | None = None
    constraints: Constraints | None = None
    required_slots: int | None = None
    kill_job_on_completion: bool | None = None
    user_identity: UserIdentity | None = None
    run_exclusive: bool | None = None
    application_package_references: list[ApplicationPackage] | None = None
    authentication_token_settings: TokenSettings | None = None
    allow_low_priority_node: bool | None = None


class AutoPoolNodes(ShownProperties):
    """The specification of nodes of a pool that is created for jobs."""

    display_name: str | None = None
    vm_size: str | None = None
    task_slots_per_node: int | None = None
    target_dedicated_nodes: int | None = None
    target_low_priority_nodes: int | None = None
    enable_auto_scale: bool | None = None
    auto_scale_formula: str | None = None
    auto_scale_evaluation_interval: str | None = None
    resize_timeout: str | None = None


class AutoPool(ShownProperties):
    """A pool that is created for each job, or for the schedule."""

    auto_pool_id_prefix: str | None = None
    pool_lifetime_option: str | None = None
    keep_alive: bool | None = None
    pool: AutoPoolNodes | None = None


class PoolInfo(ShownProperties):
    pool_id: str | None = None
    auto_pool_specification: AutoPool | None = None


class JobSpecification(ShownProperties):
    """The template of a schedule's jobs; metadata shows only names, like variables."""

    display_name: str | None = None
    priority: int | None = None
    allow_task_preemption: bool | None = None
    max_parallel_tasks: int | None = None
    uses_task_dependencies: bool | None = None
    on_all_tasks_complete: str | None = None
    on_task_failure: str | None = None
    constraints: Constraints | None = None
    job_manager_task: JobManagerTask | None = None
    job_preparation_task: SideTask | None = None
    job_release_task: SideTask | None = None
    common_environment_settings: list[EnvironmentSetting] | None = None
    pool_info: PoolInfo | None = None
    metadata: list[EnvironmentSetting] | None = None
