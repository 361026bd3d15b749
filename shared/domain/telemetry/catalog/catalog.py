"""All known measurements, those without series, and the unit and kind of every possible series.

`measurements.json` maps the fields of each measurement to series, in the form of `Plugin`. The sources:

- Telegraf's input plugins cpu, mem, swap, disk, diskio, net, netstat, nstat, system, processes, procstat, kernel,
  kernel_vmstat, pressure, docker, nvidia_smi (memory in MiB, clocks in MHz, times in microseconds), amd_rocm_smi
  (memory in bytes), infiniband (the kernel's counters; data in words of four bytes), smart, smartctl, sensors, temp,
  nfsclient (times in milliseconds) and lustre2. Percentages become fractions, times become seconds. Fields that
  nvidia_smi doesn't query have nvidia-smi's own names. `nvme` is NVMe's health log: percentages, minutes, and data in
  units of 512,000 bytes.
- Telegraf's win_perf_counters with the measurements of its example configuration: `win_cpu`, `win_mem`, `win_swap`,
  `win_disk` (logical disks), `win_diskio` (physical disks), `win_net` and `win_system`. What Windows gives per second
  (`_persec`) counts for the time between readings.
- Prometheus' node_exporter, DCGM exporter and lustre_exporter, in `prometheus.json`: a metric is a measurement there,
  with the field `value`, which also stands for `gauge`, `counter` and `delta`.
- Metrics of OpenTelemetry's semantic conventions, and those of the Collector's host metrics with their older names of
  attributes, in `opentelemetry.json`, in the same form.
- The node agent's own measurements (docs/agent.md), whose names begin with `batchscope_`.
- collectd's types.db, collectd.conf(5), and output of write_influxdb_udp observed from collectd 5.12. Such a
  measurement is named after a collectd plugin, and its tag `type` selects one of the plugin's sets of values:
  `plugin/type` here. The tag `type_instance` names one value (`used/value`). CPU time is in jiffies of 10 ms. A reading
  of a counter is a whole number: a fraction is a rate that collectd computed (`StoreRates true`) and no reading.

Choices: fields that follow from others (`usage_active`, averages of averages) and fields that nobody watches are
omitted; so are collectd's average operation times (`disk_time`) and swap traffic, whose records look alike for pages
and bytes. A process's CPU is in percent of one core (800 for eight), but OpenTelemetry's `process.cpu.utilization` is a
share of all cores; hence the series has another name. GPU memory errors are those since the driver was loaded, as older
ones aren't growth that the node saw; errors of a GPU's whole life are a gauge. The temperature of an AMD GPU is
`junction`, by which it throttles. A container's id is no attribute, as its name identifies it. The instance of
collectd's plugin df is a path with `-` in place of `/`, or a device; these can't be distinguished.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from shared.domain.telemetry.catalog.custom_metrics import STORED
from shared.domain.telemetry.catalog.series import Plugin, Rule
from shared.domain.telemetry.records.metrics import Metric

_FILES = tuple(map(Path(__file__).with_name, ("measurements.json", "prometheus.json", "opentelemetry.json")))
TYPE = "type"
"""The tag that names the `type` of a collectd record, which selects the values of its plugin."""
AGGREGATES = "agg."
"""Prefix of measurements that a TES agent aggregated: `agg.cpu` for `cpu`, its field names suffixed as in SUMMARIES."""
SUMMARIES = ("count", "min", "max", "mean")
RECORDS = frozenset((
    "batch_agent_data", "batch_vm_info", "batchscope_container_image", "batchscope_driver", "batchscope_event",
    "batchscope_firmware", "batchscope_kernel", "debug_instance_metadata_json",
    "docker_log", "exec.df", "exec.env", "exec.lsblk", "exec.mount", "filecount", "filestat", "imds_metadata",
    "linux_boot", "nvme_metadata", "nvidia_smi_process", "procstat_lookup", "tail", "task_env",
    "telegraf_config_continuous", "telegraf_config_once",
))  # fmt: skip
"""Known measurements without series: facts and events of a node, log lines, checks
whether other plugins found anything, and GPU use by process."""
ENDED_ATTEMPTS = "batchscope.task.attempt."
"""Prefix of series of ended task attempts. Each has one sample, at the end of the attempt that its attributes name. As
they aren't measurements over time, only queries that name them select them, and pools have no metrics of them."""
RECORD_FAMILIES = ("vm_cpuinfo", "vm_lscpu")


@cache
def plugins() -> Mapping[str, Plugin]:
    """Returns the plugins by measurement, those of collectd by `measurement/type`; the files are read on first use."""
    found: dict[str, Plugin] = {}
    for file in _FILES:
        found |= msgspec.json.decode(file.read_bytes(), type=dict[str, Plugin])
    return found


@cache
def keyed() -> Mapping[str, Plugin]:
    """Returns the plugins with fields whose values also distinguish series, by measurement."""
    return {name: plugin for name, plugin in plugins().items() if plugin.keys}


@cache
def instruments() -> Mapping[str, Rule]:
    """Returns a rule of each series name; all rules of a name share its unit (UCUM) and kind."""
    known = {rule.name: rule for plugin in plugins().values() for rule in plugin.fields.values()}
    return known | {name: Rule(name, "", kind) for kind, name in STORED.items()}


@cache
def _mapped_by_names() -> frozenset[str]:
    """Returns the names of known measurements without keys, with and without series."""
    names = {name.partition("/")[0] for name in plugins()}
    return frozenset((names | {f"{AGGREGATES}{name}" for name in names} | RECORDS) - keyed().keys())


def is_mapped_by_names(measurement: str, tags: Mapping[str, str]) -> bool:
    """Returns whether the mapping of a record follows from its name, tags and field names, regardless of values."""
    return measurement in _mapped_by_names() and TYPE not in tags


def shape_key(metric: Metric) -> tuple[object, ...]:
    """Returns a key that is equal for records whose fields map to series alike."""
    name, tags = metric.name, metric.tags
    key = (name, len(tags), *tags, *tags.values(), *metric.fields)
    if is_mapped_by_names(name, tags):
        return key
    if name in keyed():
        return (*key, *map(metric.fields.get, keyed()[name].keys))
    return (*key, *map(type, metric.fields.values()))


def plugin_of(measurement: str, tags: Mapping[str, str]) -> Plugin | None:
    """Returns the plugin of a record, or None for an unknown measurement."""
    kind = tags.get(TYPE)
    return (plugins().get(f"{measurement}/{kind}") if kind else None) or plugins().get(measurement)


def is_record(measurement: str) -> bool:
    """Returns whether a measurement is known to have no series."""
    return measurement in RECORDS or measurement.startswith(RECORD_FAMILIES)
