"""A node's telemetry in the API's JSON, for the canned server: two hours by the minute, with a gap, and counters."""

from datetime import UTC, datetime, timedelta
from typing import Any

GIB = 2**30
MINUTES = 120
GAP = range(60, 70)
OFTEN = 12  # values a minute
LEFT_OUT = {
    "records": 14_201,
    "refused": 3,
    "withoutTime": 0,
    "outOfWindow": 0,
    "ofTooManyNodes": 0,
    "ofTooManyTasks": 0,
    "unreadFields": 812,
    "beyondLimit": 0,
    "late": 0,
    "noNumbers": 0,
    "unknown": {},
}
FACTS: dict[str, Any] = {
    "cpuModel": "",
    "cpuCount": None,
    "vmSize": "",
    "region": "",
    "zone": "",
    "priority": "",
    "imageOffer": "",
    "imageSku": "",
    "bootedAt": None,
    "allocatedAt": None,
    "disks": [],
}


def telemetry(series: list[dict[str, Any]], *, end: datetime, **changes: Any) -> dict[str, Any]:
    """Returns an answer with these series, which end at a moment."""
    return {
        "from": text(end - timedelta(minutes=MINUTES)),
        "to": text(end),
        "step": "PT1M",
        "hourly": [],
        "leftOut": LEFT_OUT,
        "facts": FACTS,
        "value": series,
    } | changes


def machine(end: datetime) -> list[dict[str, Any]]:
    """Returns series of a processor whose use grows by the minute, memory, a disk, its partition, and networks."""
    used = {"system.memory.state": "used"}
    disks = [("sda", 60), ("sda1", 60), ("loop0", 600)]
    return [
        gauge("system.cpu.utilization", end, lambda at: 1 - at / MINUTES, {"cpu.mode": "idle"}, spread=0.1),
        gauge("system.memory.usage", end, lambda at: at / MINUTES * 8 * GIB, used),
        gauge("system.memory.limit", end, lambda _: 16 * GIB),
        *(
            counter("system.disk.io", end, growth * 2**20, {"disk.io.direction": way, "system.device": disk})
            for disk, growth in disks
            for way in ("read", "write")
        ),
        counter("system.network.io", end, 60 * 2**20, network("eth0", "receive")),
        counter("system.network.io", end, 600 * 2**20, network("lo", "receive")),
        counter("system.network.io", end, 60 * 2**20, network("enP41529s1", "receive")),
        *filesystem("/", "ext4", 0.25, end),
        *filesystem("/mnt/batch", "ext4", 0.75, end),
        *filesystem("/run", "tmpfs", 0.99, end),
    ]


def cores(end: datetime, number: int) -> list[dict[str, Any]]:
    """Returns the idle share of each core: cores with higher numbers are busier."""
    return [
        gauge(
            "system.cpu.utilization",
            end,
            lambda _, core=core: 1 - core / number,
            {"cpu.mode": "idle", "cpu.logical_number": str(core)},
        )
        for core in range(number)
    ]


def graphics(end: datetime) -> list[dict[str, Any]]:
    return [
        gauge("hw.gpu.utilization", end, lambda _: 0.5, {"hw.type": "gpu", "hw.id": gpu, "hw.gpu.task": "general"})
        for gpu in ("0", "1")
    ] + [
        gauge("hw.temperature", end, lambda _: 70, {"hw.type": "gpu", "hw.id": "0"}),
        gauge("hw.temperature", end, lambda _: 90, {"hw.type": "gpu", "hw.id": "0", "hw.sensor_location": "memory"}),
        gauge("hw.temperature", end, lambda _: 50, {"hw.type": "gpu", "hw.id": "0", "hw.sensor_location": "edge"}),
        gauge("hw.temperature", end, lambda _: 60, {"hw.type": "gpu", "hw.id": "1", "hw.sensor_location": "edge"}),
        *(
            counter(
                "batchscope.gpu.throttled_time",
                end,
                growth,
                {"hw.type": "gpu", "hw.id": "0", "batchscope.gpu.throttle.reason": reason},
            )
            for reason, growth in (("power_cap", 15), ("sync_boost", 0))
        ),
    ]


def many_gpus(end: datetime, number: int) -> list[dict[str, Any]]:
    """Returns the utilization and temperature of GPUs: those with higher numbers are busier and hotter."""
    of, task = {"hw.type": "gpu"}, {"hw.gpu.task": "general"}
    return [
        series
        for gpu in range(number)
        for series in (
            gauge("hw.gpu.utilization", end, lambda _, gpu=gpu: gpu / number, of | {"hw.id": str(gpu)} | task),
            gauge("hw.temperature", end, lambda _, gpu=gpu: 40.0 + gpu, of | {"hw.id": str(gpu)}),
        )
    ]


def network(name: str, way: str) -> dict[str, str]:
    return {"network.interface.name": name, "network.io.direction": way}


def filesystem(mount: str, kind: str, share: float, end: datetime) -> list[dict[str, Any]]:
    where = {"system.filesystem.mountpoint": mount, "system.filesystem.type": kind}
    size = 128 * GIB
    return [
        gauge("system.filesystem.usage", end, lambda _: share * size, where | {"system.filesystem.state": "used"}),
        gauge("system.filesystem.limit", end, lambda _: size, where),
    ]


def gauge(
    name: str, end: datetime, value: Any, attributes: dict[str, str] | None = None, *, spread: float = 0
) -> dict[str, Any]:
    """Returns a gauge; `value` takes a minute's number, and `spread` is the distance of minimum and maximum from it."""
    points = [
        {
            "time": text(end - timedelta(minutes=MINUTES - at)),
            "count": OFTEN,
            "min": value(at) - spread,
            "max": value(at) + spread,
            "sum": value(at) * OFTEN,
            "last": value(at),
        }
        for at in range(MINUTES)
        if at not in GAP
    ]
    return {"name": name, "attributes": attributes or {}, "unit": "1", "kind": "gauge", "points": points}


def counter(name: str, end: datetime, growth: float, attributes: dict[str, str]) -> dict[str, Any]:
    """Returns a counter with equal growth each minute; the last minute isn't over, so it has half of its readings."""
    points = [
        {
            "time": text(end - timedelta(minutes=MINUTES - at)),
            "count": OFTEN // 2 if at == MINUTES - 1 else OFTEN,
            "min": 0,
            "max": growth / 30,
            "sum": growth / 2 if at == MINUTES - 1 else growth,
            "last": growth / 60,
        }
        for at in range(MINUTES)
        if at not in GAP
    ]
    return {"name": name, "attributes": attributes, "unit": "By", "kind": "counter", "points": points}


def point(time: datetime, growth: float, *, seconds: int = 3600) -> dict[str, Any]:
    """Returns a point of a counter that grows evenly."""
    rate = growth / seconds
    return {"time": text(time), "count": seconds, "min": rate / 2, "max": rate * 2, "sum": growth, "last": rate}


def this_minute() -> datetime:
    return datetime.now(UTC).replace(second=0, microsecond=0)


def text(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
