"""The settings of a pool's machines and of how they get tasks: these classes are the allowlist of properties.

`shared/domain/tasks/task_secrets.py` removes secrets from them. Fields are named as in the REST API (2026-10-01);
durations stay as the service writes them. Users, mounts, registries and extensions, which hold secrets, aren't listed.
"""

from msgspec import field

from shared.domain.tasks.task_details import (
    ApplicationPackage,
    ContainerSettings,
    Identity,
    NameValue,
    ResourceFile,
    ShownProperties,
    UserIdentity,
)


class Image(ShownProperties):
    """An image of the marketplace, or one of the user's own by its resource id."""

    publisher: str | None = None
    offer: str | None = None
    sku: str | None = None
    version: str | None = None
    exact_version: str | None = None
    virtual_machine_image_id: str | None = None
    shared_gallery_image_id: str | None = None
    community_gallery_image_id: str | None = None


class ManagedDisk(ShownProperties):
    storage_account_type: str | None = None


class EphemeralDisk(ShownProperties):
    placement: str | None = None


class OSDisk(ShownProperties):
    """The system disk; an ephemeral one is local to the machine."""

    ephemeral_os_disk_settings: EphemeralDisk | None = field(default=None, name="ephemeralOSDiskSettings")
    caching: str | None = None
    disk_size_gb: int | None = field(default=None, name="diskSizeGB")
    managed_disk: ManagedDisk | None = None
    write_accelerator_enabled: bool | None = None


class DataDisk(ShownProperties):
    lun: int | None = None
    caching: str | None = None
    disk_size_gb: int | None = field(default=None, name="diskSizeGB")
    storage_account_type: str | None = None
    managed_disk: ManagedDisk | None = None


class HostEndpoint(ShownProperties):
    """How a node's access to one of the host's services is controlled."""

    mode: str | None = None


class ProxyAgent(ShownProperties):
    enabled: bool | None = None
    imds: HostEndpoint | None = None
    wire_server: HostEndpoint | None = None


class Uefi(ShownProperties):
    secure_boot_enabled: bool | None = None
    v_tpm_enabled: bool | None = None


class SecurityProfile(ShownProperties):
    security_type: str | None = None
    encryption_at_host: bool | None = None
    uefi_settings: Uefi | None = None
    proxy_agent_settings: ProxyAgent | None = None


class Containers(ShownProperties):
    type: str | None = None
    container_image_names: list[str] | None = None


class NodePlacement(ShownProperties):
    """Whether nodes are all in one region's data centres (`Regional`) or balanced over its zones (`Zonal`)."""

    policy: str | None = None


class ZonePlacement(ShownProperties):
    """Placement in zones that excludes `NodePlacement` (API version 2026-10-01)."""

    zone_placement_policy: str | None = None


class PercentPerZone(ShownProperties):
    """The most percent of a pool's nodes in one zone."""

    enabled: bool | None = None
    value: int | None = None


class ZoneAllocation(ShownProperties):
    max_zone_count: int | None = None
    max_instance_percent_per_zone_policy: PercentPerZone | None = None


class ResiliencyPolicy(ShownProperties):
    """How nodes are spread over zones (API version 2026-10-01)."""

    zone_allocation_policy: ZoneAllocation | None = None


class DiskEncryption(ShownProperties):
    targets: list[str] | None = None


class SizeProperties(ShownProperties):
    """vCPUs of nodes, where they differ from those of the VM size (API version 2026-10-01)."""

    v_cpus_available: int | None = field(default=None, name="vCPUsAvailable")
    v_cpus_per_core: int | None = field(default=None, name="vCPUsPerCore")


class HardwareProfile(ShownProperties):
    vm_size_properties: SizeProperties | None = None


class Machine(ShownProperties):
    """The virtual machine configuration of nodes."""

    image_reference: Image | None = None
    node_agent_sku_id: str | None = field(default=None, name="nodeAgentSKUId")
    os_disk: OSDisk | None = None
    data_disks: list[DataDisk] | None = None
    security_profile: SecurityProfile | None = None
    container_configuration: Containers | None = None
    node_placement_configuration: NodePlacement | None = None
    placement: ZonePlacement | None = None
    resiliency_policy: ResiliencyPolicy | None = None
    disk_encryption_configuration: DiskEncryption | None = None
    license_type: str | None = None
    hardware_profile: HardwareProfile | None = None


class SkuSize(ShownProperties):
    """A VM size that nodes may have; of several, the service prefers the one of the lowest rank."""

    name: str | None = None
    rank: int | None = None


class SkuProfile(ShownProperties):
    """The VM sizes of a pool that may have several, and how one is chosen (API version 2026-10-01)."""

    vm_sizes: list[SkuSize] | None = None
    allocation_strategy: str | None = None


class PublicAddresses(ShownProperties):
    provision: str | None = None
    ip_families: list[str] | None = None


class Network(ShownProperties):
    """The network of nodes; without a subnet it is Batch's own."""

    subnet_id: str | None = None
    dynamic_vnet_assignment_scope: str | None = field(default=None, name="dynamicVNetAssignmentScope")
    public_ip_address_configuration: PublicAddresses | None = field(default=None, name="publicIPAddressConfiguration")
    enable_accelerated_networking: bool | None = None


class SchedulingPolicy(ShownProperties):
    """Which node gets a task, and which job's task is next among jobs of equal priority."""

    node_fill_type: str | None = None
    job_default_order: str | None = None


class AutomaticUpgrade(ShownProperties):
    enable_automatic_os_upgrade: bool | None = field(default=None, name="enableAutomaticOSUpgrade")
    disable_automatic_rollback: bool | None = None
    use_rolling_upgrade_policy: bool | None = None
    os_rolling_upgrade_deferral: bool | None = None


class RollingUpgrade(ShownProperties):
    enable_cross_zone_upgrade: bool | None = None
    max_batch_instance_percent: int | None = None
    max_unhealthy_instance_percent: int | None = None
    max_unhealthy_upgraded_instance_percent: int | None = None
    pause_time_between_batches: str | None = None
    prioritize_unhealthy_instances: bool | None = None
    rollback_failed_instances_on_policy_breach: bool | None = None


class UpgradePolicy(ShownProperties):
    mode: str | None = None
    automatic_os_upgrade_policy: AutomaticUpgrade | None = field(default=None, name="automaticOSUpgradePolicy")
    rolling_upgrade_policy: RollingUpgrade | None = None


class PoolIdentity(ShownProperties):
    """The managed identities of nodes."""

    type: str | None = None
    user_assigned_identities: list[Identity] | None = None


class MachineSettings(ShownProperties):
    """The settings of a pool, as far as Batch returned them."""

    virtual_machine_configuration: Machine | None = None
    vm_sku_profile: SkuProfile | None = None
    network_configuration: Network | None = None
    task_scheduling_policy: SchedulingPolicy | None = None
    enable_inter_node_communication: bool | None = None
    upgrade_policy: UpgradePolicy | None = None
    identity: PoolIdentity | None = None
    metadata: list[NameValue] | None = None
    application_package_references: list[ApplicationPackage] | None = None


class StartTaskSettings(ShownProperties):
    """What a start task needs besides its command line and variables: files, its container, and its user."""

    resource_files: list[ResourceFile] | None = None
    container_settings: ContainerSettings | None = None
    user_identity: UserIdentity | None = None
