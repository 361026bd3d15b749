"""The kernel's files of a node of two cores with one task, written by a test, and clocks that it moves."""

import os
from pathlib import Path

from agent.machine.clock import Clock
from agent.machine.machine import Machine

BEGIN = 1_795_000_000_000_000_000
GIB = 1 << 30
TASK = "HOME=/root\0AZ_BATCH_JOB_ID=render\0AZ_BATCH_TASK_ID=frame-7\0SECRET=hunter2\0"
HOSTILE = ") R 1 ("
SECRETS = ("hunter2", "--token", "swordfish")


class SteppedClock(Clock):
    """Clocks that go on together, when the test says so."""

    def __init__(self) -> None:
        self.passed = 5000.0

    def now(self) -> int:
        return BEGIN + int((self.passed - 5000.0) * 1e9)

    def monotonic(self) -> float:
        return self.passed

    def raw(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


def fake_node(root: Path) -> Machine:
    """Writes a node's files and returns its machine, on which the agent is no superuser."""
    files = {
        "/proc/stat": "cpu 100 0 100 1000 0 0 0 0 0 0\ncpu0 50 0 50 500 0\ncpu1 50 0 50 500 0\nctxt 9\nbtime 1794995000\nprocesses 40\n",  # noqa: E501
        "/proc/meminfo": "MemTotal: 8000 kB\nMemFree: 4000 kB\nMemAvailable: 5000 kB\nBuffers: 500 kB\nCached: 1500 kB\n",  # noqa: E501
        "/proc/uptime": "5000.00 1.0\n",
        "/proc/loadavg": "0.50 0.25 0.10 1/100 7\n",
        "/proc/cpuinfo": "processor : 0\nmodel name : AMD EPYC\n\nprocessor : 1\n",
        "/proc/diskstats": "8 0 sda 10 1 8 20 5 2 16 30 1 40 50\n",
        "/proc/net/dev": "eth0: 1000 10 0 1 0 0 0 0 2000 20 0 0 0 0 0 0\n",
        "/proc/self/mountinfo": "1 0 8:1 / /mnt/a\\040b\u00e9 rw,relatime - ext4 /dev/sda1 rw,password=swordfish\n",
        "/proc/sys/kernel/osrelease": "6.8.0-azure\n",
        "/sys/devices/system/cpu/online": "0-1\n",
        "/sys/block/sda/size": "2097152\n",
    }
    for path, text in files.items():
        _write(root, path, text)
    process(root, 1, 0, "init", "")
    process(root, 70, 1, HOSTILE, TASK)
    return Machine(str(root), statvfs=lambda _: _space(), is_root=False)


def process(root: Path, pid: int, parent: int, name: str, environment: str, *, ticks: int = 300) -> None:
    """Writes the files of a process that used `ticks` of CPU time in user mode and has 25 pages."""
    stat = f"{pid} ({name}) S {parent} {pid} {pid} 0 -1 0 5 0 0 0 {ticks} 0 0 0 20 0 3 0 {1000 + pid} 4096 25 0\n"
    files = {
        "stat": stat, "environ": environment, "comm": f"{name}\n", "cmdline": "work\0--token\0swordfish\0",
        "status": f"Name:\t{name}\nVmHWM:\t400 kB\n", "io": "rchar: 1\nread_bytes: 512\nwrite_bytes: 1024\n",
    }  # fmt: skip
    for file, text in files.items():
        _write(root, f"/proc/{pid}/{file}", text)


def _space() -> os.statvfs_result:
    return os.statvfs_result((4096, 4096, 100 * GIB // 4096, GIB // 4096, GIB // 4096, 0, 0, 0, 0, 255))


def _write(root: Path, path: str, text: str) -> None:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
