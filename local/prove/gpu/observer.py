"""The agent's part of the proof, in a process of its own: samples, processes, durations and memory as lines of JSON.

Started as `python3 -m local.prove.gpu.observer FILE [--stub]`; ends at TERM. With `--stub` the node counts as one with
a driver, whose library the loader finds.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, TextIO

from agent.collection import Collection
from agent.collectors.collector import Collector
from agent.devices.registry import devices
from agent.machine.clock import Clock
from agent.machine.machine import Machine

_NOWHERE = "http://127.0.0.1:9"  # no metadata service
_COLLECTORS = ("nvidia", "tasks")
_PERIODS = {"nvidia": 1.0, "tasks": 2.0, "processes": 2.0, "answers": 12.0}
"""Seconds between calls."""
_SIZES = ("VmRSS", "RssAnon", "RssFile", "VmHWM")


class _NodeWithDriver(Machine):
    """This machine, as if it had the driver's files."""

    def exists(self, path: str) -> bool:
        return path == "/dev/nvidiactl" or super().exists(path)


class Observer:
    """Calls the agent's collectors and the driver, and writes their records."""

    def __init__(self, machine: Machine, out: TextIO) -> None:
        self._out = out
        self._clock = Clock()
        self.sizes("imported")
        self._close: Callable[[], None] = lambda: None
        self._folder = tempfile.TemporaryDirectory(prefix="gpu-proof-")
        self._calls: dict[str, Callable[[], dict[str, Any]]] = {
            one.name: _Collect(one) for one in self._collectors(machine) if one.name in _COLLECTORS
        }
        self.sizes("collectors")

    @property
    def has_driver(self) -> bool:
        return "nvidia" in self._calls

    def run(self, stop: threading.Event) -> None:
        """Samples until it is asked to stop or its parent ends."""
        if self.has_driver:
            try:
                self._add_driver()
            except Exception as error:
                self.write("driver", error=f"{type(error).__name__}: {error}")
        due, parent = dict.fromkeys(self._calls, time.monotonic()), os.getppid()
        while due and parent == os.getppid() and not stop.wait(max(min(due.values()) - time.monotonic(), 0)):
            name = min(due, key=lambda one: due[one])
            self._call(name)
            due[name] = max(due[name] + _PERIODS[name], time.monotonic())
        self.sizes("end")
        self._close()

    def sizes(self, when: str) -> None:
        """Writes this process's memory in KiB, and that of the driver's libraries in it."""
        self.write("sizes", when=when, libraries=_library_sizes(), **_process_sizes())

    def write(self, kind: str, **values: Any) -> None:
        self._out.write(json.dumps({"kind": kind, "time": time.time(), **values}, default=str) + "\n")
        self._out.flush()

    def _collectors(self, machine: Machine) -> list[Collector]:
        """Returns the agent's collectors, or that of the GPUs alone where the others fail on this machine."""
        try:
            found = Collection(machine, self._clock, interval=1.0, folder=self._folder.name, imds=_NOWHERE)
        except Exception as error:
            self.write("collection", error=f"{type(error).__name__}: {error}")
            alone = devices(machine, 1.0, only=("nvidia",))
            self.write("notes", notes=alone.notes)
            return alone.collectors
        self._close = found.close
        self.write("notes", notes=found.notes)
        return found.collectors

    def _call(self, name: str) -> None:
        begin, wall, used = time.time(), time.perf_counter(), time.thread_time()
        try:
            found = self._calls[name]()
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        wall, used = time.perf_counter() - wall, time.thread_time() - used
        self.write(name, begin=begin, ms=wall * 1000, cpu_ms=used * 1000, **found)

    def _add_driver(self) -> None:
        """Adds the driver's own answers, by a session beside the collector's."""
        from agent.devices.gpu_processes import GpuProcesses  # noqa: PLC0415 - as the agent does: only with a driver
        from agent.devices.gpu_report import answers  # noqa: PLC0415 - see above
        from agent.devices.nvml import Nvml  # noqa: PLC0415 - see above
        from agent.devices.nvml_session import NvmlSession  # noqa: PLC0415 - see above

        session = NvmlSession(Nvml())
        session.gpus()
        processes = GpuProcesses(session)
        self.write("driver", version=session.nvml.driver_version())
        self._calls["processes"] = lambda: {"pids": {str(pid): list(use) for pid, use in processes().items()}}
        self._calls["answers"] = lambda: {"answers": [list(one) for one in answers(session, self._clock)]}


class _Collect:
    """A call of a collector."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    def __call__(self) -> dict[str, list[Any]]:
        found = self._collector.collect(time.time_ns())
        return {"records": [[one.measurement, dict(one.tags), dict(one.fields)] for one in found]}


def _process_sizes() -> dict[str, int]:
    found = re.findall(r"^(\w+):\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return {name: int(size) for name, size in found if name in _SIZES}


def _library_sizes() -> dict[str, int]:
    """Returns resident KiB by mapped file of NVIDIA's."""
    sizes: dict[str, int] = {}
    name = ""
    for line in _lines("/proc/self/smaps"):
        kind, *words = line.split()
        if not kind.endswith(":"):
            name = line.rpartition("/")[2]
        elif kind == "Rss:" and "nvidia" in name:
            sizes[name] = sizes.get(name, 0) + int(words[0])
    return sizes


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def main() -> None:
    """Observes until TERM."""
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    machine = _NodeWithDriver() if "--stub" in sys.argv[2:] else Machine()
    with Path(sys.argv[1]).open("w", encoding="utf-8") as out:
        Observer(machine, out).run(stop)


if __name__ == "__main__":
    main()
