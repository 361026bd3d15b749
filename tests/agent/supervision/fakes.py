"""A clock, a tree of processes and a child that tests steer."""

import signal
from dataclasses import dataclass, field
from pathlib import Path

from agent.machine.clock import Clock

BOOT = "6f1c7a52-0000-4000-8000-000000000001"


class SteppedClock(Clock):
    """A clock that goes on only where it sleeps."""

    def __init__(self) -> None:
        self.passed = 1000.0

    def now(self) -> int:
        return 1_795_000_000_000_000_000 + int((self.passed - 1000.0) * 1e9)

    def monotonic(self) -> float:
        return self.passed

    def sleep(self, seconds: float) -> None:
        self.passed += seconds


@dataclass
class ProcessTree:
    """A root with the boot's id and the processes of a pid namespace that a test starts and ends."""

    root: Path
    namespace: int = 7

    def __post_init__(self) -> None:
        self.boot(BOOT)
        link = self.root / "proc/self/ns/pid"
        link.parent.mkdir(parents=True)
        link.symlink_to(f"pid:[{self.namespace}]")

    def boot(self, name: str) -> None:
        path = self.root / "proc/sys/kernel/random/boot_id"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")

    def start(self, pid: int, started: int = 5000, state: str = "S") -> None:
        path = self.root / f"proc/{pid}/stat"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{pid} (a) name)) {state} {' '.join(['0'] * 18)} {started} 0 0\n")

    def end(self, pid: int) -> None:
        (self.root / f"proc/{pid}/stat").unlink()


@dataclass
class ScriptedChild:
    """A child that lives `lives[n]` seconds at its n-th start, for ever after the last; signals end it if it obeys."""

    clock: SteppedClock
    lives: list[float] = field(default_factory=list)
    obeys: bool = True
    fails: int = 0
    starts: list[float] = field(default_factory=list)
    signals: list[tuple[float, signal.Signals]] = field(default_factory=list)
    ends: float | None = None

    def start(self) -> None:
        if self.fails:
            self.fails -= 1
            raise OSError(28, "No space left on device")
        self.starts.append(self.clock.passed - 1000.0)
        self.ends = self.clock.passed + (self.lives.pop(0) if self.lives else 1e9)

    def outcome(self) -> str:
        return "ended with the exit code 0" if self.ends is not None and self.clock.passed >= self.ends else ""

    def send(self, signum: signal.Signals) -> None:
        self.signals.append((self.clock.passed - 1000.0, signum))
        if self.obeys or signum == signal.SIGKILL:
            self.ends = self.clock.passed

    def wait(self, until: float, request: signal.Signals) -> "Wait":
        return Wait(self, until, request)


@dataclass
class Wait:
    """Stands for the queue of signals: time passes, the child's death comes as CHLD, and a request at `until`."""

    child: ScriptedChild
    until: float
    request: signal.Signals
    is_sent: bool = False

    def __call__(self, timeout: float) -> signal.Signals | None:
        clock, ends = self.child.clock, self.child.ends
        times: dict[float, signal.Signals | None] = {clock.passed + timeout: None}
        if ends is not None and clock.passed < ends:
            times[ends] = signal.SIGCHLD
        if not self.is_sent:
            times[1000.0 + self.until] = self.request
        at = min(times)
        clock.passed = max(at, clock.passed)
        self.is_sent = self.is_sent or times[at] == self.request
        return times[at]
