"""A tree of /proc and /sys as a large node has it: 96 cores, 500 processes, 16 tasks, 8 NVMe drives."""

from pathlib import Path

CORES, PROCESSES, TASKS, IN_TASKS, DISKS = 96, 500, 16, 400, 8
TASK_NAMES = [f"task-{number}" for number in range(TASKS)]
_FIRST_PID, _TICKS, _BOOT = 1, 100, 1_795_000_000
_REST_OF_STAT = " 0" * 11 + " 17 3" + " 0" * 12  # up to the 52 fields of a kernel
_MODES = (41, 1, 7, 46, 2, 0, 1, 2, 0, 0)  # of each 100 ticks of a core
_FILES = {
    "/proc/meminfo": (
        "MemTotal: 460000000 kB\nMemFree: 300000000 kB\nMemAvailable: 350000000 kB\nBuffers: 1000 kB\n"
        "Cached: 9000000 kB\nSwapCached: 0 kB\nActive: 1000 kB\nInactive: 1000 kB\nDirty: 12 kB\nShmem: 5 kB\n"
        "Slab: 90 kB\nSReclaimable: 50 kB\nSUnreclaim: 40 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"
        "CommitLimit: 230000000 kB\nCommitted_AS: 99000000 kB\nHugePages_Total: 0\nHugePages_Free: 0\n"
    ),
    "/proc/vmstat": "pgmajfault 12\npswpin 0\npswpout 0\noom_kill 0\n",
    "/proc/loadavg": "40.10 39.20 38.30 41/900 77777\n",
    "/proc/uptime": "86400.11 900000.00\n",
    "/proc/net/dev": "Inter-|\n face |\n" + "".join(f"  eth{n}: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n" for n in range(4)),
    "/proc/net/snmp": "Tcp: ActiveOpens RetransSegs InSegs OutSegs\nTcp: 1 2 3 4\n",
    "/proc/net/sockstat": "sockets: used 90\nTCP: inuse 40 orphan 0 tw 2 alloc 50 mem 4\nUDP: inuse 3 mem 1\n",
    "/proc/pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n",
    "/proc/self/mountinfo": "22 1 8:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw\n",
    "/proc/mounts": "/dev/nvme0n1p1 / ext4 rw,relatime 0 0\n",
    "/proc/swaps": "Filename Type Size Used Priority\n",
    "/proc/sys/kernel/random/boot_id": "b1\n",
    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module\n",
}


class LargeNode:
    """The tree below `root`; `advance` moves its counters on, each file at once, so that others may read meanwhile."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seconds = 0
        for name, text in _FILES.items():
            self._write(name, text)
        drives = [f"nvme{n}n1" for n in range(DISKS)]
        self._write("/proc/diskstats", "".join(f"259 {n} {d} 9 1 8 2 7 3 6 4 0 5 5\n" for n, d in enumerate(drives)))
        for drive in drives:
            self._write(f"/sys/block/{drive}/size", "1875385008\n")
            self._write(f"/sys/block/{drive}/stat", "0\n")
        for number in range(PROCESSES):
            self._add_process(number)
        self.advance(0)

    def advance(self, seconds: int) -> None:
        """Moves the counters of cores and of tasks' processes on."""
        self._seconds += seconds
        core = [mode * (self._seconds + 1000) * _TICKS // 100 for mode in _MODES]
        lines = [f"cpu  {' '.join(str(mode * CORES) for mode in core)}"]
        lines += [f"cpu{number} {' '.join(map(str, core))}" for number in range(CORES)]
        self._write(
            "/proc/stat", "\n".join([*lines, f"btime {_BOOT}", "processes 77777", "ctxt 1", "procs_running 41", ""])
        )
        for number in range(PROCESSES):
            self._write(f"/proc/{_FIRST_PID + number}/stat", self._stat(number))

    def _add_process(self, number: int) -> None:
        folder = f"/proc/{_FIRST_PID + number}"
        task = TASK_NAMES[number % TASKS] if number < IN_TASKS else ""
        variables = f"AZ_BATCH_JOB_ID=job\0AZ_BATCH_TASK_ID={task}\0" if task else ""
        self._write(f"{folder}/cmdline", f"solver\0--task={task}\0")
        (Path(f"{self._root}{folder}/task") / folder.rpartition("/")[2]).mkdir(parents=True)
        self._write(f"{folder}/environ", f"PATH=/bin\0HOME=/\0{variables}" + "X=1\0" * 40)
        self._write(f"{folder}/status", "Name:\tsolver\nVmHWM:\t  900000 kB\nVmRSS:\t  800000 kB\nThreads:\t4\n")
        self._write(f"{folder}/io", "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\n")
        self._write(f"{folder}/cgroup", "0::/\n")
        for descriptor in range(8):
            self._write(f"{folder}/fd/{descriptor}", "")

    def _stat(self, number: int) -> str:
        ticks = self._seconds * _TICKS // 5 if number < IN_TASKS else 3
        pid = _FIRST_PID + number
        before = f"{pid} (solver) R 1 {pid} {pid} 0 -1 4194304 9 0 0 0"
        return f"{before} {ticks} 5 0 0 20 0 4 0 {5000 + number} 900000000 200000 1 1 1{_REST_OF_STAT}\n"

    def _write(self, name: str, text: str) -> None:
        path = Path(f"{self._root}{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(".written") if path.exists() else path
        written.write_text(text, encoding="ascii")
        if written is not path:
            written.replace(path)
