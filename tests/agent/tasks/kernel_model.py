"""A model of the kernel's processes, and doors through which the agent sees them."""

from dataclasses import dataclass, field

from agent.machine.clock import Clock
from agent.machine.machine import Machine
from agent.tasks.process_table import PAGE, TICK, Process, ProcessTable

INIT, LAUNCHER = 1, 2
CHILD_IGNORED = 0x10000


@dataclass
class Modelled:
    """A process of the model; `task` is its task in truth, `environment` what its file says, CPU times in ticks."""

    pid: int
    start: int
    parent: int
    task: str = ""
    environment: str = ""
    own: int = 0
    waited: int = 0
    is_zombie: bool = False
    ignores_children: bool = False
    rss: int = 100
    peak: int = 100
    session: int = 0
    cgroup: str = "0::/"
    threads: int = 1
    io: int = 0
    name: str = "x"


@dataclass
class Kernel:
    """Processes that fork, work, end and are waited for; `used` are ticks by task, the truth."""

    max_pid: int = 300
    now: int = 1000
    processes: dict[int, Modelled] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    last_pid: int = LAUNCHER
    forks: int = 0
    denied: set[str] = field(default_factory=set)
    boot_time: int = 1_795_000_000
    """By the clock, so that it moves when the clock is set."""

    def __post_init__(self) -> None:
        self.processes = {INIT: Modelled(INIT, 0, 0), LAUNCHER: Modelled(LAUNCHER, 1, INIT)}

    def fork(self, parent: int, task: str | None = None, *, environment: str | None = None) -> int:
        """Starts a process in its parent's task, or in the named one; by default its environment says so."""
        before = self.processes[parent]
        named = before.task if task is None else task
        pid = self._free_pid()
        said = named if environment is None else environment
        self.forks += 1
        child = Modelled(pid, 1000 + self.forks, parent, named, said, session=before.session)
        self.processes[pid] = child
        return pid

    def work(self, pid: int, ticks: int) -> None:
        one = self.processes[pid]
        one.own += ticks
        self.now += ticks
        self.used[one.task] = self.used.get(one.task, 0) + ticks

    def end(self, pid: int) -> None:
        """Ends a process: its children go to init, it becomes a zombie until its parent waits for it."""
        one = self.processes[pid]
        one.is_zombie, one.rss = True, 0
        for child in [child for child in self.processes.values() if child.parent == pid]:
            child.parent = INIT
            if child.is_zombie:
                self.wait(child.pid)
        parent = self.processes[one.parent]
        if parent.ignores_children:
            del self.processes[pid]
        elif parent.pid == INIT:
            self.wait(pid)

    def wait(self, pid: int) -> None:
        """Lets a zombie's parent wait for it."""
        one = self.processes.pop(pid)
        parent = self.processes[one.parent]
        parent.waited += one.own + one.waited
        parent.io += one.io

    def reap(self, pid: int) -> None:
        """Ends a process for which its parent waits at once."""
        self.end(pid)
        self.wait(pid)

    def _free_pid(self) -> int:
        while True:
            self.last_pid = self.last_pid + 1 if self.last_pid < self.max_pid else LAUNCHER + 1
            if self.last_pid not in self.processes:
                return self.last_pid


class ModelTable(ProcessTable):
    """Reads the model's processes; `events` are called one after the other between its reads."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(ModelMachine(kernel))
        self._kernel = kernel
        self.events: list[tuple[int, object]] = []
        self.reads = 0

    def pids(self) -> list[int]:
        self.reads = 0
        return sorted(self._kernel.processes)

    def process(self, pid: int) -> Process | None:
        self.reads += 1
        while self.events and self.events[0][0] <= self.reads:
            event = self.events.pop(0)[1]
            assert callable(event)
            event()
        one = self._kernel.processes.get(pid)
        return read(one) if one else None


class ModelMachine(Machine):
    """The files of the model's processes."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__("/nonexistent", is_root=False)
        self._kernel = kernel

    def content(self, path: str, limit: int = 0) -> bytes:  # noqa: ARG002 - as the files are short
        _, _, pid, name = [*path.split("/"), ""][:4]
        if path == "/proc/stat":
            return f"cpu 0\nbtime {self._kernel.boot_time}\nprocesses 5\n".encode()
        one = self._kernel.processes.get(int(pid)) if pid.isdecimal() else None
        if one is None:
            raise FileNotFoundError(path)
        if name in self._kernel.denied:
            raise PermissionError(path)
        return _files(one)[name].encode()

    def count(self, path: str, limit: int) -> int:  # noqa: ARG002 - only open files are counted
        return 3


class StepClock(Clock):
    """A clock that the model's ticks drive, at a hundredth of a second each."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.offset = 0.0

    def now(self) -> int:
        return int(self._kernel.boot_time * 1_000_000_000 + self.monotonic() * 1e9)

    def monotonic(self) -> float:
        return self._kernel.now * TICK / 1e6 + self.offset

    def sleep(self, seconds: float) -> None:
        self.offset += seconds


def read(one: Modelled) -> Process:
    """Returns a process as its stat file shows it, with all its time in user mode."""
    state = "Z" if one.is_zombie else "S"
    own, waited = one.own * TICK, one.waited * TICK
    return Process(
        one.pid, one.start, one.parent, one.session, state, own, 0, waited, 0, one.threads, one.rss * PAGE, one.own
    )


def environment(task: str) -> str:
    """Returns the environment of a process of a task or of the start task; an empty one for an empty name."""
    if task == "startup":
        return "AZ_BATCH_NODE_STARTUP_DIR=/mnt/startup\0AZ_BATCH_TASK_DIR=/mnt/startup\0"
    return f"HOME=/root\0AZ_BATCH_JOB_ID=job\0AZ_BATCH_TASK_ID={task}\0" if task else "HOME=/root\0"


def _files(one: Modelled) -> dict[str, str]:
    mask = CHILD_IGNORED if one.ignores_children else 0
    return {
        "environ": "" if one.is_zombie else environment(one.environment),
        "cgroup": f"{one.cgroup}\n",
        "comm": f"{one.name}\n",
        "status": f"Name:\t{one.name}\nVmHWM:\t{one.peak * PAGE // 1024} kB\nSigIgn:\t{mask:016x}\n",
        "io": f"rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: {one.io}\nwrite_bytes: {one.io * 2}\n",
    }
