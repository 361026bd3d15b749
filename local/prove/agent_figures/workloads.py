"""Programs with known behaviour, run as tasks: `python workloads.py KIND SECONDS FOLDER`; standard library only.

At its end a program appends its use to FOLDER/truth, by getrusage and its own counters, a line of JSON a process.
Children for which nobody waits append their own lines. The sum of the lines is the truth about the task.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

MIB = 1 << 20
_REST = 14.0  # seconds without work before the end, longer than an interval
_STARTED = time.time()
_THREADS = 6
_HEIGHT = 240  # MiB of a ramp


class OwnCounts:
    """Counts of this process itself: bytes that it read and wrote, and its threads."""

    def __init__(self) -> None:
        self.read = 0
        self.written = 0
        self.threads = 1

    def append_to(self, folder: str, *, is_waited_for: bool = False) -> None:
        """Appends a process's line; CPU time of one that another waits for stands in that one's line."""
        cpu = 0.0
        if not is_waited_for:
            for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
                found = resource.getrusage(whose)
                cpu += found.ru_utime + found.ru_stime
        line = {
            "cpu": cpu,
            "start": _STARTED,
            "end": time.time(),
            "peak": _peak(),
            "read": self.read,
            "written": self.written,
            "threads": self.threads,
        }
        file = os.open(folder + "/truth", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, (json.dumps(line) + "\n").encode())
        os.close(file)


def _peak() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))


def burn(seconds: float) -> None:
    """Uses so much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(2000))


def during(seconds: float, step: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        step()


def partly(share: float) -> Callable[[], None]:
    """Returns a step that works for this share of its time."""

    def step() -> None:
        burn(0.1 * share)
        time.sleep(0.1 * (1 - share))

    return step


def busy(seconds: float, _: str, __: OwnCounts) -> None:
    during(seconds, partly(0.6))


def busy_at_first(seconds: float, _: str, __: OwnCounts) -> None:
    during(seconds - _REST, partly(0.5))
    time.sleep(_REST)


def sleeper(seconds: float, _: str, __: OwnCounts) -> None:
    time.sleep(seconds)


def threads(seconds: float, _: str, used: OwnCounts) -> None:
    used.threads = _THREADS + 1
    works = [threading.Thread(target=during, args=(seconds - _REST, partly(0.06))) for _ in range(_THREADS)]
    for work in works:
        work.start()
    time.sleep(seconds)
    for work in works:
        work.join()


def ramp(seconds: float, _: str, __: OwnCounts) -> None:
    """Fills memory in steps, frees it at once, and is small at most samples."""

    def up_and_down() -> None:
        held = []
        for _ in range(_HEIGHT // 20):
            held.append(b"x" * (20 * MIB))
            time.sleep(0.05)
        del held
        time.sleep(5)

    during(seconds - _REST, up_and_down)
    time.sleep(_REST)


def late_ramp(seconds: float, _: str, __: OwnCounts) -> None:
    """Is large for the last moment of its life only."""
    time.sleep(seconds)
    held = b"x" * (_HEIGHT * MIB)
    del held


def forks(seconds: float, _: str, __: OwnCounts) -> None:
    """Waits for children that live for a few milliseconds."""

    def fork() -> None:
        child = os.fork()
        if child == 0:
            burn(0.01)
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.05)

    during(seconds, fork)


def forks_unwaited(seconds: float, folder: str, _: OwnCounts) -> None:
    """Starts short children and ignores their ends, but outlives them: on a busy machine the last ones take long."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)

    def fork() -> None:
        if os.fork() == 0:
            burn(0.05)
            OwnCounts().append_to(folder)
            os._exit(0)
        time.sleep(0.3)

    during(seconds, fork)
    with suppress(ChildProcessError):
        os.wait()  # returns once all have ended, as no end is kept


def orphans(seconds: float, folder: str, _: OwnCounts) -> None:
    """Starts short grandchildren whose parent has ended, so that init adopts them."""

    def fork() -> None:
        child = os.fork()
        if child == 0:
            if os.fork() == 0:
                burn(0.05)
                OwnCounts().append_to(folder)
                os._exit(0)
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.3)

    during(seconds, fork)


def new_session(seconds: float, _: str, __: OwnCounts) -> None:
    """Waits for a child that works in a session of its own."""
    child = os.fork()
    if child == 0:
        os.setsid()
        during(seconds, partly(0.2))
        os._exit(0)
    os.waitpid(child, 0)


def daemon(seconds: float, folder: str, _: OwnCounts) -> None:
    """Leaves a daemon that forked twice, has a session of its own and outlives the process that Batch started."""
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            during(seconds, partly(0.3))
            OwnCounts().append_to(folder)
        os._exit(0)
    os.waitpid(child, 0)
    during(seconds / 2, partly(0.1))


def writer(seconds: float, folder: str, used: OwnCounts) -> None:
    """Writes files and reads them from the disk."""

    def step() -> None:
        _write_and_read(folder, used)
        time.sleep(0.5)

    during(seconds - _REST, step)
    time.sleep(_REST)


def writer_to_the_end(seconds: float, folder: str, used: OwnCounts) -> None:
    def step() -> None:
        _write_and_read(folder, used)
        time.sleep(0.5)

    during(seconds, step)


def writing_children(seconds: float, folder: str, _: OwnCounts) -> None:
    """Waits for children that each write and read a file."""

    def fork() -> None:
        child = os.fork()
        if child == 0:
            own = OwnCounts()
            _write_and_read(folder, own)
            own.append_to(folder, is_waited_for=True)
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.6)

    during(seconds - _REST, fork)
    time.sleep(_REST)


def read_burst(seconds: float, folder: str, used: OwnCounts) -> None:
    """Reads a lot in a moment between two samples, and then sleeps."""
    time.sleep(seconds / 2)
    for _ in range(4):
        _write_and_read(folder, used)
    time.sleep(seconds / 2)


def _write_and_read(folder: str, used: OwnCounts) -> None:
    path = f"{folder}/data-{os.getpid()}"
    pages = mmap.mmap(-1, 2 * MIB)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    used.written += os.write(file, pages)
    os.fsync(file)
    os.close(file)
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    used.read += os.preadv(file, [pages], 0)
    os.close(file)
    os.unlink(path)  # noqa: PTH108


KINDS: dict[str, Callable[[float, str, OwnCounts], None]] = {
    kind.__name__.replace("_", "-"): kind
    for kind in (busy, busy_at_first, sleeper, threads, ramp, late_ramp, forks, forks_unwaited, orphans, new_session,
                 daemon, writer, writer_to_the_end, writing_children, read_burst)
}  # fmt: skip


def main() -> None:
    kind, seconds, folder = sys.argv[1:]
    used = OwnCounts()
    KINDS[kind](float(seconds), folder, used)
    used.append_to(folder)
    os._exit(0)


if __name__ == "__main__":
    main()
