"""Field mappings for Telegraf's measurements of a machine and its processes.

Fields and units follow Telegraf's input plugins cpu, mem, swap, disk, diskio, net, netstat, system, processes,
procstat, kernel, kernel_vmstat and pressure. Percentages become fractions, milliseconds become seconds. Fields that
follow from others (`usage_active`, averages of averages) and fields that nobody watches are left out. Telegraf reports
a process's CPU in percent of one core (800 for eight), but OpenTelemetry's `process.cpu.utilization` is a share of all
cores; hence the series has another name.
"""

from shared.domain.telemetry.catalog.series import Plugin, Rule, counter, gauge

_PERCENT, _MILLI, _MICRO = 0.01, 0.001, 1e-6
_MODES = {
    "user": "user", "system": "system", "idle": "idle", "nice": "nice", "iowait": "iowait", "irq": "interrupt",
    "softirq": "softirq", "steal": "steal", "guest": "guest", "guest_nice": "guest_nice",
}  # fmt: skip
_STATES = {
    "running": "running", "sleeping": "sleeping", "blocked": "blocked", "zombies": "defunct", "zombie": "defunct",
    "stopped": "stopped", "dead": "dead", "idle": "idle", "paging": "paging", "unknown": "unknown",
}  # fmt: skip
_CONNECTIONS = {
    "established": "established", "syn_sent": "syn_sent", "syn_recv": "syn_received", "fin_wait1": "fin_wait_1",
    "fin_wait2": "fin_wait_2", "time_wait": "time_wait", "close": "closed", "close_wait": "close_wait",
    "last_ack": "last_ack", "listen": "listen", "closing": "closing", "none": "none",
}  # fmt: skip


def _cpu() -> dict[str, Rule]:
    usage = {
        f"usage_{mode}": gauge("system.cpu.utilization", "1", _PERCENT, cpu_mode=said) for mode, said in _MODES.items()
    }
    time = {f"time_{mode}": counter("system.cpu.time", "s", cpu_mode=said) for mode, said in _MODES.items()}
    return usage | time


def _memory(state: str) -> Rule:
    return gauge("system.memory.usage", "By", system_memory_state=state)


def _slab(state: str) -> Rule:
    return gauge("system.memory.linux.slab.usage", "By", system_memory_linux_slab_state=state)


def _filesystem(state: str) -> Rule:
    return gauge("system.filesystem.usage", "By", system_filesystem_state=state)


def _inodes(state: str) -> Rule:
    return gauge("system.filesystem.inodes.usage", "{inode}", system_filesystem_state=state)


def _disk(name: str, unit: str, direction: str, factor: float = 1) -> Rule:
    return counter(f"system.disk.{name}", unit, factor, disk_io_direction=direction)


def _network(name: str, unit: str, direction: str) -> Rule:
    return counter(f"system.network.{name}", unit, network_io_direction=direction)


def _connections() -> dict[str, Rule]:
    name, unit = "system.network.connection.count", "{connection}"
    tcp = {
        f"tcp_{state}": gauge(name, unit, network_transport="tcp", network_connection_state=said)
        for state, said in _CONNECTIONS.items()
    }
    return {**tcp, "udp_socket": gauge(name, unit, network_transport="udp")}


def _switches(kind: str) -> Rule:
    return counter("process.context_switches", "{context_switch}", process_context__switch_type=kind)


def _both_ways(fields: dict[str, tuple[str, str]]) -> dict[str, Rule]:
    """Returns rules for both directions; `{}` in a field's name stands for the direction."""
    rules: dict[str, Rule] = {}
    for written, (name, unit) in fields.items():
        short = written.startswith(("err", "drop"))
        rules[written.format("in" if short else "recv")] = _network(name, unit, "receive")
        rules[written.format("out" if short else "sent")] = _network(name, unit, "transmit")
    return rules


SYSTEM = {
    "cpu": Plugin(_cpu(), {"cpu": "cpu.logical_number"}, whole=("cpu", "cpu-total")),
    "mem": Plugin({
        "used": _memory("used"), "free": _memory("free"), "cached": _memory("cached"), "buffered": _memory("buffers"),
        "shared": gauge("system.memory.linux.shared", "By"), "total": gauge("system.memory.limit", "By"),
        "used_percent": gauge("system.memory.utilization", "1", _PERCENT, system_memory_state="used"),
        "available": gauge("system.memory.linux.available", "By"),
        "sreclaimable": _slab("reclaimable"), "sunreclaim": _slab("unreclaimable"),
    }),
    "swap": Plugin({
        "used": gauge("system.paging.usage", "By", system_paging_state="used"),
        "free": gauge("system.paging.usage", "By", system_paging_state="free"),
        "used_percent": gauge("system.paging.utilization", "1", _PERCENT, system_paging_state="used"),
        "in": counter("batchscope.paging.io", "By", system_paging_direction="in"),
        "out": counter("batchscope.paging.io", "By", system_paging_direction="out"),
    }),
    "disk": Plugin({
        "used": _filesystem("used"), "free": _filesystem("free"), "total": gauge("system.filesystem.limit", "By"),
        "used_percent": gauge("system.filesystem.utilization", "1", _PERCENT, system_filesystem_state="used"),
        "inodes_used": _inodes("used"), "inodes_free": _inodes("free"),
    }, {"path": "system.filesystem.mountpoint", "device": "system.device", "fstype": "system.filesystem.type",
        "mode": "system.filesystem.mode"}),
    "diskio": Plugin({
        "read_bytes": _disk("io", "By", "read"), "write_bytes": _disk("io", "By", "write"),
        "reads": _disk("operations", "{operation}", "read"), "writes": _disk("operations", "{operation}", "write"),
        "read_time": _disk("operation_time", "s", "read", _MILLI),
        "write_time": _disk("operation_time", "s", "write", _MILLI),
        "merged_reads": _disk("merged", "{operation}", "read"),
        "merged_writes": _disk("merged", "{operation}", "write"),
        "io_time": counter("system.disk.io_time", "s", _MILLI),
        "weighted_io_time": counter("system.disk.weighted_io_time", "s", _MILLI),
        "iops_in_progress": gauge("system.disk.pending_operations", "{operation}"),
    }, {"name": "system.device"}),
    "net": Plugin(_both_ways({
        "bytes_{}": ("io", "By"), "packets_{}": ("packet.count", "{packet}"), "err_{}": ("errors", "{error}"),
        "drop_{}": ("packet.dropped", "{packet}"),
    }), {"interface": "network.interface.name"}),
    "netstat": Plugin(_connections()),
    "system": Plugin({
        "load1": gauge("system.cpu.load_average.1m", "{thread}"),
        "load5": gauge("system.cpu.load_average.5m", "{thread}"),
        "load15": gauge("system.cpu.load_average.15m", "{thread}"),
        "n_cpus": gauge("system.cpu.logical.count", "{cpu}"),
        "n_physical_cpus": gauge("system.cpu.physical.count", "{cpu}"),
        "uptime": gauge("system.uptime", "s"),
    }),
    "processes": Plugin({
        **{field: gauge("system.process.count", "{process}", process_state=said) for field, said in _STATES.items()},
        "total_threads": gauge("batchscope.thread.count", "{thread}"),
    }),
    "procstat": Plugin({
        "cpu_usage": gauge("batchscope.process.cpu.usage", "{cpu}", _PERCENT),
        "cpu_time_user": counter("process.cpu.time", "s", cpu_mode="user"),
        "cpu_time_system": counter("process.cpu.time", "s", cpu_mode="system"),
        "memory_rss": gauge("process.memory.usage", "By"), "memory_vms": gauge("process.memory.virtual", "By"),
        "num_threads": gauge("process.thread.count", "{thread}"),
        "num_fds": gauge("process.unix.file_descriptor.count", "{file_descriptor}"),
        "voluntary_context_switches": _switches("voluntary"),
        "involuntary_context_switches": _switches("involuntary"),
        "read_bytes": counter("process.disk.io", "By", disk_io_direction="read"),
        "write_bytes": counter("process.disk.io", "By", disk_io_direction="write"),
        "major_faults": counter("process.paging.faults", "{fault}", system_paging_fault_type="major"),
    }, {"process_name": "process.executable.name", "pid": "process.pid"}, {"pid": "process.pid"}),
    "kernel": Plugin({
        "processes_forked": counter("system.process.created", "{process}"),
        "oom_kill": counter("batchscope.memory.oom_kills", "{process}"),
    }),
    "kernel_vmstat": Plugin({
        "oom_kill": counter("batchscope.memory.oom_kills", "{process}"),
        "pgmajfault": counter("system.paging.faults", "{fault}", system_paging_fault_type="major"),
        "pswpin": counter("system.paging.operations", "{operation}", system_paging_direction="in"),
        "pswpout": counter("system.paging.operations", "{operation}", system_paging_direction="out"),
    }),
    "pressure": Plugin(
        {"total": counter("batchscope.pressure.stalled", "s", _MICRO)},
        {"resource": "batchscope.pressure.resource", "type": "batchscope.pressure.type"},
    ),
}  # fmt: skip
