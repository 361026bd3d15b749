"""Field mappings for measurements of Telegraf's input plugin docker.

Fields and units follow the plugin's documentation: times are nanoseconds, percentages are of one core. A container's id
is no attribute, as its name identifies it well enough. Totals over all cores (`cpu-total`), networks or devices
(`total`) have no attribute for the part, like the totals of a node's processors.
"""

from shared.domain.telemetry.catalog.series import Plugin, Rule, counter, gauge

_PERCENT, _NANO = 0.01, 1e-9
_CONTAINER = {"container_name": "container.name", "container_image": "container.image.name"}
_WAYS = {"rx": "receive", "tx": "transmit"}


def _containers(state: str) -> Rule:
    return gauge("batchscope.container.count", "{container}", batchscope_container_state=state)


CONTAINERS = {
    "docker_container_cpu": Plugin({
        "usage_in_usermode": counter("container.cpu.time", "s", _NANO, cpu_mode="user"),
        "usage_in_kernelmode": counter("container.cpu.time", "s", _NANO, cpu_mode="kernel"),
        "usage_percent": gauge("container.cpu.usage", "{cpu}", _PERCENT),
        "throttling_throttled_time": counter("batchscope.container.cpu.throttled", "s", _NANO),
    }, {**_CONTAINER, "cpu": "cpu.logical_number"}, whole=("cpu", "cpu-total")),
    "docker_container_mem": Plugin({
        "usage": gauge("container.memory.usage", "By"), "limit": gauge("container.memory.usage.limit", "By"),
        "max_usage": gauge("container.memory.usage.max", "By"), "rss": gauge("container.memory.rss", "By"),
    }, _CONTAINER),
    "docker_container_net": Plugin({
        **{f"{said}_bytes": counter("container.network.io", "By", network_io_direction=way)
           for said, way in _WAYS.items()},
        **{f"{said}_packets": counter("batchscope.container.network.packets", "{packet}", network_io_direction=way)
           for said, way in _WAYS.items()},
        **{f"{said}_dropped": counter("batchscope.container.network.dropped", "{packet}", network_io_direction=way)
           for said, way in _WAYS.items()},
        **{f"{said}_errors": counter("batchscope.container.network.errors", "{error}", network_io_direction=way)
           for said, way in _WAYS.items()},
    }, {**_CONTAINER, "network": "network.interface.name"}, whole=("network", "total")),
    "docker_container_blkio": Plugin({
        **{f"io_service_bytes_recursive_{way}": counter("container.disk.io", "By", disk_io_direction=way)
           for way in ("read", "write")},
        **{f"io_serviced_recursive_{way}": counter("batchscope.container.disk.operations", "{operation}",
                                                   disk_io_direction=way)
           for way in ("read", "write")},
    }, {**_CONTAINER, "device": "system.device"}, whole=("device", "total")),
    "docker_container_status": Plugin({
        "uptime_ns": gauge("container.uptime", "s", _NANO), "restart_count": counter("container.restarts", "{restart}"),
        "oomkilled": gauge("batchscope.container.oom_killed", "1"),
    }, _CONTAINER),
    "docker": Plugin({
        "n_containers_running": _containers("running"), "n_containers_stopped": _containers("stopped"),
        "n_containers_paused": _containers("paused"),
    }),
}  # fmt: skip
