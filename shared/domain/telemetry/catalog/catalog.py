"""All measurements that are known, what isn't for charts, and the unit and kind of every series there can be."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.telemetry.catalog.catalog_collectd import COLLECTD
from shared.domain.telemetry.catalog.catalog_containers import CONTAINERS
from shared.domain.telemetry.catalog.catalog_hardware import HARDWARE
from shared.domain.telemetry.catalog.catalog_system import SYSTEM
from shared.domain.telemetry.catalog.series import Kind, Plugin

PLUGINS: Mapping[str, Plugin] = {**SYSTEM, **HARDWARE, **CONTAINERS, **COLLECTD}
"""By measurement; of collectd by measurement and `type`."""
TYPE = "type"
"""The tag that says which values of its plugin a record of collectd has."""
AGGREGATES = "agg."
"""Begins the names of what a TES agent summed up itself: `agg.cpu` of `cpu`, with SUMMARIES behind its fields."""
SUMMARIES = ("count", "min", "max", "mean")
RECORDS = frozenset((
    "batch_agent_data", "batch_vm_info", "debug_instance_metadata_json", "docker_log", "exec.df", "exec.env",
    "exec.lsblk", "exec.mount", "filecount", "filestat", "imds_metadata", "linux_boot", "nvme_metadata",
    "nvidia_smi_process", "procstat_lookup", "tail", "task_env", "telegraf_config_continuous", "telegraf_config_once",
))  # fmt: skip
"""Measurements that are known and have no series: facts of a node, lines of logs, whether others found anything, and
what processes have of GPUs that isn't told."""
RECORD_FAMILIES = ("vm_cpuinfo", "vm_lscpu")


@dataclass(frozen=True, slots=True)
class Instrument:
    """What holds for all series of a name: the unit as UCUM writes it, and how values add up."""

    unit: str
    kind: Kind


INSTRUMENTS: Mapping[str, Instrument] = {
    rule.name: Instrument(rule.unit, rule.kind) for plugin in PLUGINS.values() for rule in plugin.fields.values()
}


def plugin_of(measurement: str, tags: Mapping[str, str]) -> Plugin | None:
    """The plugin that a record is of; None where it isn't known."""
    kind = tags.get(TYPE)
    return (PLUGINS.get(f"{measurement}/{kind}") if kind else None) or PLUGINS.get(measurement)


def is_record(measurement: str) -> bool:
    """Whether a measurement is known to have no series."""
    return measurement in RECORDS or measurement.startswith(RECORD_FAMILIES)
