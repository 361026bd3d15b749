"""Reproducible telemetry as agents write it: Telegraf's lines, and frames of TES nodes."""

import random
from collections.abc import Iterator, Mapping
from itertools import islice

import orjson
import zstandard

BEGIN = 1_713_204_200_000  # milliseconds
_INTERVAL = 5_000
_CPUS, _DISKS, _PORTS = 8, 3, 2
_MAX, _SECONDS = 1000, 120  # maximum records and seconds per flush
_AGGREGATED, _SLOW = 3, 12  # intervals
_PARTS = ("count", "max", "mean", "min", "s2", "stdev")
type Fields = Mapping[str, float | str]
type Record = tuple[str, dict[str, str], Fields, int]


def records(*, cpus: int = _CPUS, begin: int = BEGIN, aggregates: bool = False) -> Iterator[Record]:
    """Yields a node's measurements every five seconds, without end: name, tags, fields and milliseconds.

    With `aggregates`, also a TES agent's aggregates every fifteen seconds and its measurements each minute.
    """
    chance = random.Random(cpus)  # noqa: S311  # made up the same way each time
    counters = [0] * 64
    interval = 0
    while True:
        time = begin + interval * _INTERVAL
        now = list(_measured(chance, counters, cpus, time))
        yield from now
        if aggregates and interval % _AGGREGATED == _AGGREGATED - 1:
            yield from map(_aggregate, now)
        if aggregates and interval % _SLOW == 0:
            yield from _slow(chance, time)
        if interval % _SLOW == 0:
            yield "system", {}, {"load1": chance.random(), "n_cpus": cpus, "uptime_format": f"1:{interval}"}, time
        interval += 1


def _measured(chance: random.Random, counters: list[int], cpus: int, time: int) -> Iterator[Record]:
    for cpu in (*range(cpus), "-total"):
        yield "cpu", {"cpu": f"cpu{cpu}"}, _cpu(chance), time
    used = chance.randrange(8 << 30)
    fields = {"available": (8 << 30) - used, "available_percent": chance.random() * 100, "total": 8 << 30,
              "used": used, "used_percent": used / (8 << 30) * 100}  # fmt: skip
    yield "mem", {}, fields, time
    for disk in range(_DISKS):
        yield "diskio", {"name": f"nvme{disk}n1"}, _grown(chance, counters, disk * 8, _DISK_FIELDS), time
    for port in range(_PORTS):
        yield "net", {"interface": f"eth{port}"}, _grown(chance, counters, 32 + port * 8, _NET_FIELDS), time


def _aggregate(record: Record) -> Record:
    """Returns the aggregate of three values, here as if all were equal."""
    name, tags, fields, time = record
    return f"agg.{name}", tags, {f"{field}_{part}": value if part[0] == "m" else 3 if part == "count" else 0.25
                                 for field, value in fields.items() for part in _PARTS}, time  # fmt: skip


def _slow(chance: random.Random, time: int) -> Iterator[Record]:
    for disk in range(_DISKS):
        used = chance.randrange(1 << 35)
        tags = {"device": f"nvme{disk}n1p1", "fstype": "ext4", "mode": "rw", "path": f"/mnt/{disk}"}
        yield "disk", tags, {"free": (1 << 35) - used, "inodes_free": 1_048_000, "inodes_total": 1_048_576,
                             "inodes_used": 576, "total": 1 << 35, "used": used,
                             "used_percent": used / (1 << 35) * 100}, time  # fmt: skip
    yield "swap", {}, {"free": 0, "total": 0, "used": 0, "used_percent": 0}, time
    threads = chance.randrange(1000)
    yield "processes", {}, {"blocked": 0, "running": chance.randrange(9), "sleeping": 120, "total": 180,
                            "total_threads": threads, "zombies": 0}, time  # fmt: skip


_MORE: Mapping[str, Fields] = {  # sent by Telegraf by default, as TES does
    "cpu": dict.fromkeys(("usage_guest", "usage_guest_nice", "usage_irq", "usage_nice", "usage_steal"), 0.0),
    "diskio": dict.fromkeys(("iops_in_progress", "merged_reads", "merged_writes", "read_time", "write_time"), 7),
}
_CPU_FIELDS = ("usage_idle", "usage_iowait", "usage_softirq", "usage_system", "usage_user")
_DISK_FIELDS = ("io_time", "read_bytes", "reads", "weighted_io_time", "write_bytes", "writes")
_NET_FIELDS = ("bytes_recv", "bytes_sent", "drop_in", "drop_out", "err_in", "err_out", "packets_recv", "packets_sent")


def _cpu(chance: random.Random) -> Fields:
    idle = chance.random() * 100
    return dict(zip(_CPU_FIELDS, (idle, 0.0, chance.random(), (100 - idle) / 3, (100 - idle) / 2), strict=True))


def _grown(chance: random.Random, counters: list[int], begin: int, names: tuple[str, ...]) -> Fields:
    for place in range(begin, begin + len(names)):
        counters[place] += chance.randrange(1 << 20)
    return dict(zip(names, counters[begin : begin + len(names)], strict=True))


def line_flushes(count: int, *, cpus: int, begin: int, records_each: int = 312) -> list[bytes]:
    """Returns `count` flushes of line protocol: two minutes of a node each, the first records of them."""
    batches = islice(_flushes(records(cpus=cpus, begin=begin)), count)
    return ["".join(map(_line, batch[:records_each])).encode() for batch in batches]


def _line(record: Record) -> str:
    name, tags, fields, time = record
    labels = "".join(f",{key}={value}" for key, value in tags.items())
    return f"{name}{labels} {','.join(f'{key}={_written(value)}' for key, value in fields.items())} {time}000000\n"


def lines(size: int, *, begin: int = BEGIN, is_sorted: bool = False) -> bytes:
    """Returns at least `size` bytes of line protocol, with nanoseconds and a host tag as Telegraf sets it.

    Fields are sorted by name, or in varying order as Telegraf writes them by default.
    """
    chance = random.Random(size)  # noqa: S311  # made up the same way each time
    found, written = [], 0
    for name, tags, few, time in records(begin=begin):
        fields = {**few, **_MORE.get(name, {})}
        labels = "".join(f",{key}={value}" for key, value in {**tags, "host": "tvmps_0a1b2c3d_d"}.items())
        names = sorted(fields) if is_sorted else chance.sample([*fields], len(fields))
        values = ",".join(f"{key}={_written(fields[key])}" for key in names)
        found.append(f"{name}{labels} {values} {time}000000\n")
        written += len(found[-1])
        if written >= size:
            return "".join(found).encode()
    raise AssertionError


def frames(size: int, *, cpus: int = _CPUS, begin: int = BEGIN, aggregates: bool = False) -> Iterator[bytes]:
    """Yields a frame per flush, until their texts have at least `size` bytes."""
    packer = zstandard.ZstdCompressor(write_checksum=True, write_content_size=False)
    written = 0
    for batch in _flushes(records(cpus=cpus, begin=begin, aggregates=aggregates)):
        metrics = [{"fields": fields, "name": name, "tags": tags, "timestamp": time}
                   for name, tags, fields, time in batch]  # fmt: skip
        text = orjson.dumps({"metrics": metrics}, option=orjson.OPT_SORT_KEYS) + b"\n"
        yield packer.compress(text)
        written += len(text)
        if written >= size:
            return


def shortest_records(count: int = 1_100_000) -> bytes:
    """Returns a frame of the maximum size, with the shortest possible records."""
    chance = random.Random(count)  # noqa: S311  # made up the same way each time
    return zstandard.compress(b"".join(b"m x=%d\n" % chance.randrange(10, 100) for _ in range(count)))


def _flushes(made: Iterator[Record]) -> Iterator[list[Record]]:
    """Yields batches of two minutes or a thousand records."""
    batch: list[Record] = []
    for record in made:
        if batch and (len(batch) == _MAX or record[3] - batch[0][3] >= _SECONDS * 1000):
            yield batch
            batch = []
        batch.append(record)


def flushes(count: int, *, cpus: int, begin: int) -> list[bytes]:
    """Returns `count` frames of a TES node."""
    return list(islice(frames(1 << 62, cpus=cpus, begin=begin, aggregates=True), count))


def _written(value: float | str) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value}i" if isinstance(value, int) else repr(value)
