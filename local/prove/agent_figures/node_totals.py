"""The node's totals as psutil reads them several times a second: the judge of the agent's."""

import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psutil

_PAUSE = 0.1  # seconds
type Reading = Mapping[str, float]


class Totals:
    """Readings in the order of their times (seconds since 1970)."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.readings: list[Reading] = []

    def add(self, moment: float, reading: Reading) -> None:
        self.times.append(moment)
        self.readings.append(reading)

    def at(self, moment: float, name: str) -> float:
        """Returns a value at a time, on the line between the readings before and after. Raises LookupError outside."""
        after = bisect_left(self.times, moment)
        if not 0 < after < len(self.times):
            raise LookupError(f"nothing was read at {moment}")
        begin, end = self.times[after - 1], self.times[after]
        first, last = self.readings[after - 1][name], self.readings[after][name]
        return first + (last - first) * (moment - begin) / (end - begin)


@contextmanager
def watched() -> Iterator[Totals]:
    """Reads the node's totals in the background during the block."""
    totals, stop = Totals(), threading.Event()

    def watch() -> None:
        while not stop.wait(_PAUSE):
            totals.add(time.time(), _reading())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield totals
    finally:
        stop.set()
        thread.join()


def _reading() -> Reading:
    cpu, memory = psutil.cpu_times(), psutil.virtual_memory()
    modes = (cpu.user, cpu.nice, cpu.system, cpu.irq, cpu.softirq, cpu.steal)
    found = {
        "busy": sum(modes),
        "total": sum(modes) + cpu.idle + cpu.iowait,
        "available": memory.available,
        "free": memory.free,
        "cached": memory.cached,
        "memory": memory.total,
        "used space": psutil.disk_usage("/").used,
    }
    for name, disk in psutil.disk_io_counters(perdisk=True).items():
        found |= {f"{name} read_bytes": disk.read_bytes, f"{name} write_bytes": disk.write_bytes}
    for name, net in psutil.net_io_counters(pernic=True).items():
        found |= {f"{name} bytes_recv": net.bytes_recv, f"{name} bytes_sent": net.bytes_sent}
    return found
