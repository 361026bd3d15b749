"""An agent's measurements of a node: Telegraf's records, with counters that grow from the node's start.

The set is that of a TES node. Each sample has cpu, mem, diskio and net, and nvidia_smi for sizes with GPUs. Every third
adds aggregates of three samples, each minute adds disk, swap, system and processes. Single cores are reported up to
eight, so that a large node doesn't write more than a small one.
"""

from collections.abc import Iterable, Iterator

from local.batch_emulator.entities import Json
from local.batch_emulator.telemetry.hardware import GIB
from local.batch_emulator.telemetry.node_usage import MIB, ResourceUsage, usage_of
from local.batch_emulator.telemetry.samplers import NodeSample

_MAX_REPORTED_CORES = 8
_AGGREGATED_SAMPLES, _SLOW_SAMPLES = 3, 12  # samples
_DISKS = {"sda": 0.15, "sdb": 0.85}  # the system's disk, and the tasks' working disk
_BLOCK, _PACKET = 65_536, 1_200
_POWER_CAP_SHARE = 0.7  # of a GPU: above it power is limited, increasingly
_DISK_SIZE = {"/": 30 * GIB, "/mnt": 150 * GIB}
_AGGREGATED_FIELDS = {"cpu": ("usage_user", "usage_system", "usage_idle"), "mem": ("used", "used_percent")}
type Reading = tuple[str, dict[str, str], dict[str, int | float]]


class Meter:
    """The meter of one session, with samples every `period` seconds; each sample may be read only once."""

    def __init__(self, seed: str, period: float) -> None:
        self._seed = seed
        self._period = period
        self._counters: dict[str, float] = {}
        self._loads = [0.0, 0.0, 0.0]
        self._recent: dict[str, list[float]] = {}

    def read(self, sample: NodeSample) -> list[Json]:
        """Returns the records of a sample, stamped with its time in milliseconds."""
        usage = usage_of(sample, self._seed)
        self._update_counters(usage, sample.session.hardware.cores)
        readings = list(self._fast_readings(sample, usage))
        self._collect(readings)
        if sample.number % _AGGREGATED_SAMPLES == _AGGREGATED_SAMPLES - 1:
            readings += self._aggregates()
        if sample.number % _SLOW_SAMPLES == 0:
            readings += self._slow_readings(sample, usage)
        return records_of(readings, sample)

    def _update_counters(self, usage: ResourceUsage, cores: int) -> None:
        rates = {"read": usage.read, "written": usage.written, "received": usage.received, "sent": usage.sent,
                 "busy": min(0.95, (usage.read + usage.written) / (120 * MIB)),
                 "capped": min(1.0, max(0.0, usage.gpu - _POWER_CAP_SHARE) * 5)}  # fmt: skip
        for name, rate in rates.items():
            self._counters[name] = self._counters.get(name, 0.0) + rate * self._period
        running = usage.user + usage.system + usage.waiting
        for place, minutes in enumerate((1, 5, 15)):
            self._loads[place] += (running - self._loads[place]) * min(1.0, self._period / 60 / minutes)
        self._cores = cores

    def _fast_readings(self, sample: NodeSample, usage: ResourceUsage) -> Iterator[Reading]:
        yield "cpu", {"cpu": "cpu-total"}, _usage(usage.user, usage.system, usage.waiting, self._cores)
        if self._cores <= _MAX_REPORTED_CORES:
            for core, (user, system, waiting) in enumerate(_spread(usage, self._cores)):
                yield "cpu", {"cpu": f"cpu{core}"}, _usage(user, system, waiting, 1)
        yield "mem", {}, _memory(usage, sample.session.hardware.memory)
        for disk, share in _DISKS.items():
            yield "diskio", {"name": disk}, self._disk(share)
        yield "net", {"interface": "eth0"}, self._network()
        for gpu in range(sample.session.hardware.gpus):
            yield _gpu(gpu, sample, usage.gpu, self._counters["capped"])

    def _slow_readings(self, sample: NodeSample, usage: ResourceUsage) -> Iterator[Reading]:
        written = {"/": 14 * GIB, "/mnt": 0.02 * GIB + 0.1 * self._counters["written"]}
        for path, size in _DISK_SIZE.items():
            used = min(int(written[path]), size)
            fields = {"free": size - used, "total": size, "used": used, "used_percent": _rounded(100 * used / size)}
            disk = "sda1" if path == "/" else "sdb1"
            inodes = {
                "inodes_free": 1_048_000 - used // MIB,
                "inodes_total": 1_048_576,
                "inodes_used": used // MIB + 576,
            }
            yield "disk", {"device": disk, "fstype": "ext4", "mode": "rw", "path": path}, {**fields, **inodes}
        yield "swap", {}, {"free": 0, "total": 0, "used": 0, "used_percent": 0}
        loads = dict(zip(("load1", "load5", "load15"), map(_rounded, self._loads), strict=True))
        uptime = max(0, (sample.time - sample.session.booted) // 10_000_000)
        yield "system", {}, {**loads, "n_cpus": self._cores, "n_users": 0, "uptime": uptime}
        running = round(usage.user + usage.system)
        others = 118 + usage.processes
        yield "processes", {}, {"blocked": round(usage.waiting), "running": running, "sleeping": others,
                                "total": others + running + round(usage.waiting), "total_threads": 2 * others + running,
                                "zombies": 0}  # fmt: skip

    def _disk(self, share: float) -> dict[str, int | float]:
        read, written = (int(self._counters[name] * share) for name in ("read", "written"))
        busy = int(self._counters["busy"] * share * 1000)
        return {"io_time": busy, "iops_in_progress": 0, "read_bytes": read, "reads": read // _BLOCK,
                "weighted_io_time": busy * 2, "write_bytes": written, "writes": written // _BLOCK}  # fmt: skip

    def _network(self) -> dict[str, int | float]:
        received, sent = int(self._counters["received"]), int(self._counters["sent"])
        return {"bytes_recv": received, "bytes_sent": sent, "drop_in": 0, "drop_out": 0, "err_in": 0, "err_out": 0,
                "packets_recv": received // _PACKET, "packets_sent": sent // _PACKET}  # fmt: skip

    def _collect(self, readings: list[Reading]) -> None:
        for name, tags, fields in readings:
            if name in _AGGREGATED_FIELDS and tags.get("cpu", "cpu-total") == "cpu-total":
                for field in _AGGREGATED_FIELDS[name]:
                    self._recent.setdefault(f"{name}/{field}", []).append(fields[field])

    def _aggregates(self) -> Iterator[Reading]:
        for name, fields in _AGGREGATED_FIELDS.items():
            summary: dict[str, int | float] = {}
            for field in fields:
                summary |= _summary(field, self._recent[f"{name}/{field}"])
            yield f"agg.{name}", {"cpu": "cpu-total"} if name == "cpu" else {}, summary
        self._recent.clear()


def records_of(readings: Iterable[Reading], sample: NodeSample) -> list[Json]:
    """Returns readings as records, stamped with the sample's time in milliseconds."""
    time = sample.time // 10_000
    return [{"fields": fields, "name": name, "tags": tags, "timestamp": time} for name, tags, fields in readings]


def _usage(user: float, system: float, waiting: float, cores: int) -> dict[str, int | float]:
    """Returns percentages that sum to a hundred."""
    fields = {
        name: _rounded(100 * busy / cores) for name, busy in (("user", user), ("system", system), ("iowait", waiting))
    }
    idle = _rounded(max(0.0, 100 - sum(fields.values())))
    return {"usage_idle": idle, **{f"usage_{name}": value for name, value in fields.items()}}


def _spread(usage: ResourceUsage, cores: int) -> Iterator[tuple[float, float, float]]:
    """Yields the usage per core, busy cores first: tasks stay on their cores."""
    left = busy = usage.user + usage.system + usage.waiting
    for _ in range(cores):
        part = min(1.0, left) / busy
        left = max(0.0, left - 1.0)
        yield usage.user * part, usage.system * part, usage.waiting * part


def _memory(usage: ResourceUsage, total: int) -> dict[str, int | float]:
    used, cached = int(usage.memory), int(usage.cached)
    available = total - used
    return {"available": available, "available_percent": _rounded(100 * available / total), "buffered": 0,
            "cached": cached, "free": total - used - cached, "total": total, "used": used,
            "used_percent": _rounded(100 * used / total)}  # fmt: skip


def _gpu(number: int, sample: NodeSample, busy: float, capped: float) -> Reading:
    """Returns a GPU's record; its power limit was active for `capped` seconds."""
    hardware = sample.session.hardware
    total = hardware.gpu_memory // MIB
    used = int(total * (0.01 + 0.7 * busy))
    tags = {"index": str(number), "name": hardware.gpu, "pstate": "P0" if busy else "P8"}
    return "nvidia_smi", tags, {"clocks_event_reasons_counters_sw_power_cap": int(capped * 1_000_000),
                                "clocks_event_reasons_counters_sw_therm_slowdown": 0,
                                "ecc_errors_volatile_dram_correctable": 0, "ecc_errors_volatile_dram_uncorrectable": 0,
                                "ecc_errors_volatile_sram_correctable": 0, "ecc_errors_volatile_sram_uncorrectable": 0,
                                "memory_free": total - used, "memory_total": total, "memory_used": used,
                                "power_draw": _rounded(30 + 220 * busy), "power_limit": 250,
                                "temperature_gpu": round(32 + 44 * busy), "temperature_memory": round(34 + 50 * busy),
                                "utilization_gpu": round(100 * busy),
                                "utilization_memory": round(60 * busy)}  # fmt: skip


def _summary(field: str, values: list[float]) -> dict[str, int | float]:
    count, mean = len(values), sum(values) / len(values)
    spread = sum((value - mean) ** 2 for value in values) / max(1, count - 1)
    fields = {
        "count": count,
        "max": max(values),
        "mean": mean,
        "min": min(values),
        "s2": spread,
        "stdev": spread**0.5,
    }
    return {f"{field}_{name}": value for name, value in fields.items()}


def _rounded(value: float) -> float:
    return round(value, 4)
