"""All known measurements, those without series, and the unit and kind of every possible series."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.telemetry.catalog.catalog_collectd import COLLECTD
from shared.domain.telemetry.catalog.catalog_containers import CONTAINERS
from shared.domain.telemetry.catalog.catalog_hardware import HARDWARE
from shared.domain.telemetry.catalog.catalog_system import SYSTEM
from shared.domain.telemetry.catalog.series import Kind, Plugin

PLUGINS: Mapping[str, Plugin] = {**SYSTEM, **HARDWARE, **CONTAINERS, **COLLECTD}
"""Plugins by measurement; those of collectd by `measurement/type`."""
TYPE = "type"
"""The tag that names the `type` of a collectd record, which selects the values of its plugin."""
AGGREGATES = "agg."
"""Prefix of measurements that a TES agent aggregated: `agg.cpu` for `cpu`, its field names suffixed as in SUMMARIES."""
SUMMARIES = ("count", "min", "max", "mean")
RECORDS = frozenset((
    "batch_agent_data", "batch_vm_info", "debug_instance_metadata_json", "docker_log", "exec.df", "exec.env",
    "exec.lsblk", "exec.mount", "filecount", "filestat", "imds_metadata", "linux_boot", "nvme_metadata",
    "nvidia_smi_process", "procstat_lookup", "tail", "task_env", "telegraf_config_continuous", "telegraf_config_once",
))  # fmt: skip
"""Known measurements without series: facts of a node, log lines, checks whether other plugins found anything, and GPU
use by process."""
RECORD_FAMILIES = ("vm_cpuinfo", "vm_lscpu")


@dataclass(frozen=True, slots=True)
class Instrument:
    """The unit (UCUM) and kind that all series of one name share."""

    unit: str
    kind: Kind


INSTRUMENTS: Mapping[str, Instrument] = {
    rule.name: Instrument(rule.unit, rule.kind) for plugin in PLUGINS.values() for rule in plugin.fields.values()
}


def plugin_of(measurement: str, tags: Mapping[str, str]) -> Plugin | None:
    """Returns the plugin of a record, or None for an unknown measurement."""
    kind = tags.get(TYPE)
    return (PLUGINS.get(f"{measurement}/{kind}") if kind else None) or PLUGINS.get(measurement)


def is_record(measurement: str) -> bool:
    """Returns whether a measurement is known to have no series."""
    return measurement in RECORDS or measurement.startswith(RECORD_FAMILIES)
