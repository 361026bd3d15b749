"""A task as the Batch REST API describes it: these classes are the allowlist of properties that may be shown.

Other properties are dropped, and only their names are shown. `task_secrets.py` does that, and removes secrets from the
allowed ones. Fields are named as in the REST API (2025-06-01); times and durations stay as the service writes them.
"""

from msgspec import Struct, field


class ShownProperties(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """The base class; a property that the service didn't send is omitted."""


class NameValue(ShownProperties):
    """A detail of a failure."""

    name: str | None = None
    value: str | None = None


class EnvironmentSetting(ShownProperties):
    """A variable by its name; its value is never shown."""

    name: str | None = None
    value: str | None = None


class UploadHeader(EnvironmentSetting):
    """A header by its name; its value is never shown."""


class Identity(ShownProperties):
    """A managed identity by its resource id."""

    resource_id: str | None = None


class ResourceFile(ShownProperties):
    """A resource file; addresses are shown without their queries, which grant access."""

    auto_storage_container_name: str | None = None
    storage_container_url: str | None = None
    http_url: str | None = None
    blob_prefix: str | None = None
    file_path: str | None = None
    file_mode: str | None = None
    identity_reference: Identity | None = None


class OutputContainer(ShownProperties):
    path: str | None = None
    container_url: str | None = None
    identity_reference: Identity | None = None
    upload_headers: list[UploadHeader] | None = None


class OutputDestination(ShownProperties):
    container: OutputContainer | None = None


class UploadOptions(ShownProperties):
    upload_condition: str | None = None


class OutputFile(ShownProperties):
    file_pattern: str | None = None
    destination: OutputDestination | None = None
    upload_options: UploadOptions | None = None


class Registry(ShownProperties):
    """A registry; its password is never shown."""

    username: str | None = None
    password: str | None = None
    registry_server: str | None = None
    identity_reference: Identity | None = None


class BindMount(ShownProperties):
    source: str | None = None
    is_read_only: bool | None = None


class ContainerSettings(ShownProperties):
    container_run_options: str | None = None
    image_name: str | None = None
    registry: Registry | None = None
    working_directory: str | None = None
    container_host_batch_bind_mounts: list[BindMount] | None = None


class ExitOptions(ShownProperties):
    job_action: str | None = None
    dependency_action: str | None = None


class ExitCode(ShownProperties):
    code: int | None = None
    exit_options: ExitOptions | None = None


class ExitCodeRange(ShownProperties):
    start: int | None = None
    end: int | None = None
    exit_options: ExitOptions | None = None


class ExitConditions(ShownProperties):
    exit_codes: list[ExitCode] | None = None
    exit_code_ranges: list[ExitCodeRange] | None = None
    pre_processing_error: ExitOptions | None = None
    file_upload_error: ExitOptions | None = None
    default: ExitOptions | None = None


class IdRange(ShownProperties):
    start: int | None = None
    end: int | None = None


class Dependencies(ShownProperties):
    task_ids: list[str] | None = None
    task_id_ranges: list[IdRange] | None = None


class AutoUser(ShownProperties):
    scope: str | None = None
    elevation_level: str | None = None


class UserIdentity(ShownProperties):
    """The user that a task runs as; a password is never shown."""

    username: str | None = None
    password: str | None = None
    auto_user: AutoUser | None = None


class Constraints(ShownProperties):
    max_wall_clock_time: str | None = None
    retention_time: str | None = None
    max_task_retry_count: int | None = None


class Failure(ShownProperties):
    """The cause of a task's failure, as the service states it."""

    category: str | None = None
    code: str | None = None
    message: str | None = None
    details: list[NameValue] | None = None


class ContainerExecution(ShownProperties):
    container_id: str | None = None
    state: str | None = None
    error: str | None = None


class Execution(ShownProperties):
    """The latest run."""

    start_time: str | None = None
    end_time: str | None = None
    exit_code: int | None = None
    container_info: ContainerExecution | None = None
    failure_info: Failure | None = None
    retry_count: int | None = None
    last_retry_time: str | None = None
    requeue_count: int | None = None
    last_requeue_time: str | None = None
    result: str | None = None


class NodeInfo(ShownProperties):
    affinity_id: str | None = None
    node_url: str | None = None
    pool_id: str | None = None
    node_id: str | None = None
    task_root_directory: str | None = None
    task_root_directory_url: str | None = None


class Affinity(ShownProperties):
    affinity_id: str | None = None


class MultiInstance(ShownProperties):
    number_of_instances: int | None = None
    coordination_command_line: str | None = None
    common_resource_files: list[ResourceFile] | None = None


class ApplicationPackage(ShownProperties):
    application_id: str | None = None
    version: str | None = None


class TokenSettings(ShownProperties):
    access: list[str] | None = None


class Statistics(ShownProperties):
    """The service's measurements of a task."""

    url: str | None = None
    start_time: str | None = None
    last_update_time: str | None = None
    user_cpu_time: str | None = field(default=None, name="userCPUTime")
    kernel_cpu_time: str | None = field(default=None, name="kernelCPUTime")
    wall_clock_time: str | None = None
    read_iops: int | None = field(default=None, name="readIOps")
    write_iops: int | None = field(default=None, name="writeIOps")
    read_io_gib: float | None = field(default=None, name="readIOGiB")
    write_io_gib: float | None = field(default=None, name="writeIOGiB")
    wait_time: str | None = None


class TaskDetails(ShownProperties):
    """A task in full."""

    id: str
    state: str
    url: str | None = None
    e_tag: str | None = None
    display_name: str | None = None
    creation_time: str | None = None
    last_modified: str | None = None
    state_transition_time: str | None = None
    previous_state: str | None = None
    previous_state_transition_time: str | None = None
    command_line: str | None = None
    container_settings: ContainerSettings | None = None
    resource_files: list[ResourceFile] | None = None
    output_files: list[OutputFile] | None = None
    environment_settings: list[EnvironmentSetting] | None = None
    affinity_info: Affinity | None = None
    constraints: Constraints | None = None
    required_slots: int | None = None
    user_identity: UserIdentity | None = None
    exit_conditions: ExitConditions | None = None
    depends_on: Dependencies | None = None
    application_package_references: list[ApplicationPackage] | None = None
    authentication_token_settings: TokenSettings | None = None
    multi_instance_settings: MultiInstance | None = None
    execution_info: Execution | None = None
    node_info: NodeInfo | None = None
    stats: Statistics | None = None
