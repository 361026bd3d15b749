"""Field mappings for measurements that collectd's plugin write_influxdb_udp writes.

Such a measurement is named after a collectd plugin, and its tag `type` selects one of the plugin's sets of values. The
catalog names both, as `plugin/type`; the tag `type_instance` names one value (`used/value`). Fields and units follow
collectd's types.db, collectd.conf(5) and output observed from collectd 5.12. A reading of a counter is a whole number:
a fraction is a rate that collectd computed (`StoreRates true`) and no reading. Omitted: average operation times, which
collectd calls `disk_time`, and swap traffic, whose records look alike for pages and bytes.
"""

from collections.abc import Mapping

from shared.domain.telemetry.catalog.series import Plugin, Rule, counter, gauge

_PERCENT, _MILLI = 0.01, 0.001
_JIFFY = 0.01  # second; the unit in which Linux reports CPU time to programs
_MODES = {
    "user": "user", "system": "system", "idle": "idle", "nice": "nice", "wait": "iowait", "interrupt": "interrupt",
    "softirq": "softirq", "steal": "steal",
}  # fmt: skip
_MEMORY = {"used": "used", "free": "free", "cached": "cached", "buffered": "buffers"}
_SLAB = {"slab_recl": "reclaimable", "slab_unrecl": "unreclaimable"}
_SPACE = ("used", "free", "reserved")
_STATES = {
    "running": "running", "sleeping": "sleeping", "blocked": "blocked", "zombies": "defunct", "stopped": "stopped",
    "paging": "paging",
}  # fmt: skip
_WAYS = {"rx": "receive", "tx": "transmit"}
_INTERFACE, _DEVICE = {"instance": "network.interface.name"}, {"instance": "system.device"}
_FILESYSTEM = {"instance": "batchscope.filesystem.name"}  # a path with - in place of /, or a device: indistinguishable
_CORE = {"instance": "cpu.logical_number"}


def _named(fields: Mapping[str, Rule], tags: Mapping[str, str] | None = None) -> Plugin:
    """Returns a plugin whose values `type_instance` names."""
    rules = {f"{name}/value": rule for name, rule in fields.items()}
    return Plugin(rules, tags or {}, named_by="type_instance", counts_whole=True)


def _plain(fields: Mapping[str, Rule], tags: Mapping[str, str] | None = None) -> Plugin:
    return Plugin(fields, tags or {}, counts_whole=True)


def _network(name: str, unit: str) -> Plugin:
    rules = {field: counter(name, unit, network_io_direction=way) for field, way in _WAYS.items()}
    return _plain(rules, _INTERFACE)


def _disk(name: str, unit: str) -> Plugin:
    return _plain({way: counter(name, unit, disk_io_direction=way) for way in ("read", "write")}, _DEVICE)


def _space(name: str, unit: str, factor: float = 1) -> Plugin:
    return _named({state: gauge(name, unit, factor, system_filesystem_state=state) for state in _SPACE}, _FILESYSTEM)


COLLECTD = {
    "cpu/percent": _named(
        {said: gauge("system.cpu.utilization", "1", _PERCENT, cpu_mode=mode) for said, mode in _MODES.items()}, _CORE
    ),
    "cpu/cpu": _named(
        {said: counter("system.cpu.time", "s", _JIFFY, cpu_mode=mode) for said, mode in _MODES.items()}, _CORE
    ),
    "memory/memory": _named(
        {said: gauge("system.memory.usage", "By", system_memory_state=state) for said, state in _MEMORY.items()}
        | {
            said: gauge("system.memory.linux.slab.usage", "By", system_memory_linux_slab_state=state)
            for said, state in _SLAB.items()
        }
    ),
    "memory/percent": _named({"used": gauge("system.memory.utilization", "1", _PERCENT, system_memory_state="used")}),
    "swap/swap": _named(
        {state: gauge("system.paging.usage", "By", system_paging_state=state) for state in ("used", "free")}
    ),
    "swap/percent": _named({"used": gauge("system.paging.utilization", "1", _PERCENT, system_paging_state="used")}),
    "interface/if_octets": _network("system.network.io", "By"),
    "interface/if_packets": _network("system.network.packet.count", "{packet}"),
    "interface/if_errors": _network("system.network.errors", "{error}"),
    "interface/if_dropped": _network("system.network.packet.dropped", "{packet}"),
    "df/df_complex": _space("system.filesystem.usage", "By"),
    "df/percent_bytes": _space("system.filesystem.utilization", "1", _PERCENT),
    "df/df_inodes": _space("system.filesystem.inodes.usage", "{inode}"),
    "disk/disk_octets": _disk("system.disk.io", "By"),
    "disk/disk_ops": _disk("system.disk.operations", "{operation}"),
    "disk/disk_merged": _disk("system.disk.merged", "{operation}"),
    "disk/disk_io_time": _plain(
        {
            "io_time": counter("system.disk.io_time", "s", _MILLI),
            "weighted_io_time": counter("system.disk.weighted_io_time", "s", _MILLI),
        },
        _DEVICE,
    ),
    "disk/pending_operations": _plain({"value": gauge("system.disk.pending_operations", "{operation}")}, _DEVICE),
    "load/load": _plain(
        {
            "shortterm": gauge("system.cpu.load_average.1m", "{thread}"),
            "midterm": gauge("system.cpu.load_average.5m", "{thread}"),
            "longterm": gauge("system.cpu.load_average.15m", "{thread}"),
        }
    ),
    "processes/ps_state": _named(
        {said: gauge("system.process.count", "{process}", process_state=state) for said, state in _STATES.items()}
    ),
    "processes/fork_rate": _plain({"value": counter("system.process.created", "{process}")}),
    "uptime/uptime": _plain({"value": gauge("system.uptime", "s")}),
    "vmem/vmpage_faults": _plain(
        {"majflt": counter("system.paging.faults", "{fault}", system_paging_fault_type="major")}
    ),
    "vmem/vmpage_io": Plugin(
        {
            f"swap/{way}": counter("system.paging.operations", "{operation}", system_paging_direction=way)
            for way in ("in", "out")
        },
        named_by="type_instance",
        counts_whole=True,
    ),
}
