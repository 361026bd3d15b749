"""Starts related programs, waits until each reports that it is ready, and stops exactly these.

Each child leads its own process group, so that the programs that it starts end with it. A program reports that it is
ready by lines in its log. This module doesn't know the programs' purposes.
"""

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from local.dev.system import parent_watchdog
from local.dev.system.console import Failure, StopRequested
from local.dev.system.shell import last_lines

TICK_SECONDS = 0.05
STOP_SECONDS = 3.0
LAST_STOP_SECONDS = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program of the stack.

    Each regular expression of `announces` must match a line of its log; their named groups are the announcement
    (usually addresses). `stops_last` is for programs that the others need while they stop. `may_finish` is for those
    that may exit with code 0 when their work is done.
    """

    name: str
    command: tuple[str, ...]
    log: Path
    cwd: Path
    environment: Mapping[str, str]
    announces: tuple[str, ...] = ()
    patience_seconds: float = 60.0
    stops_last: bool = False
    may_finish: bool = False


@dataclass(slots=True)
class Child:
    program: Program
    popen: subprocess.Popen[bytes]

    def crash(self) -> Failure | None:
        """Returns a sentence about its end, if that is unexpected."""
        code = self.popen.poll()
        if code is None or (code == 0 and self.program.may_finish):
            return None
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        log = self.program.log
        return Failure(f"The {self.program.name} {how}; its last lines, all in {log}:\n{last_lines(log)}")

    def is_gone(self) -> bool:
        return self.popen.poll() is not None and (sys.platform == "win32" or parent_watchdog.is_gone(self.popen.pid))


class Children:
    """A set of running programs; leaving the `with` block stops them. `is_stopping` is called while waiting."""

    def __init__(self, *, is_stopping: Callable[[], bool] = lambda: False) -> None:
        self._is_stopping = is_stopping
        self._children: list[Child] = []
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", parent_watchdog.__file__], stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pids(self) -> dict[str, int]:
        return {child.program.name: child.popen.pid for child in self._children}

    def delete_if_killed(self, path: Path) -> None:
        """Has a file deleted even if this process is killed."""
        self._instruct_watchdog("file", path)

    def end_if_killed(self, group: int) -> None:
        """Has a process group of another's making end if this process is killed, until it is forgotten."""
        self._instruct_watchdog("keep", group)

    def forget(self, group: int) -> None:
        """Leaves a process group alone that `end_if_killed` named: it has ended."""
        self._instruct_watchdog("drop", group)

    def start(self, program: Program) -> dict[str, str]:
        """Starts a program and waits until it is ready. Returns its announcement, or raises Failure."""
        program.log.parent.mkdir(parents=True, exist_ok=True)
        try:
            with program.log.open("wb") as log:
                popen = subprocess.Popen(
                    program.command,
                    cwd=program.cwd,
                    env=dict(program.environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        except OSError as error:
            raise Failure(f"The {program.name} could not be started: {error}.") from error
        child = Child(program, popen)
        self._children.append(child)
        self._instruct_watchdog("keep", popen.pid)
        return self._wait_until_ready(child)

    def kill(self, name: str) -> None:
        """Ends a program and its process group by SIGKILL, on purpose. Raises Failure if none runs.

        Any thread may kill and start while others wait, but nothing may be started once the block is left.
        """
        child = next((child for child in self._children if child.program.name == name), None)
        if child is None:
            raise Failure(f"No {name} is running.")
        self._children.remove(child)
        parent_watchdog.end_group(child.popen.pid, by_force=True)
        child.popen.wait()
        self._instruct_watchdog("drop", child.popen.pid)

    def wait_for(self, is_ready: Callable[[], bool], *, complaint: str, patience_seconds: float) -> None:
        """Waits for a condition while watching every child. Raises Failure with the complaint when patience ends."""
        deadline = time.monotonic() + patience_seconds
        while not is_ready():
            self.check()
            if time.monotonic() > deadline:
                raise Failure(complaint)
            time.sleep(TICK_SECONDS)

    def check(self) -> None:
        """Raises Failure if a child has ended, StopRequested if the user wants an end."""
        if self._is_stopping():
            raise StopRequested
        for child in tuple(self._children):
            if crash := child.crash():
                raise crash

    def stop(self) -> None:
        """Ends every child: first those that need the others, then the rest, by force after the grace time."""
        first = [child for child in self._children if not child.program.stops_last]
        last = [child for child in self._children if child.program.stops_last]
        for group, seconds in ((first, STOP_SECONDS), (last, LAST_STOP_SECONDS)):
            _end(group, seconds)
        for child in self._children:
            self._instruct_watchdog("drop", child.popen.pid)
        self._children.clear()
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if self._watchdog.stdin:
                self._watchdog.stdin.close()
            self._watchdog.wait(1.0)

    def _wait_until_ready(self, child: Child) -> dict[str, str]:
        program = child.program
        found: dict[str, str] = {}

        def has_announced() -> bool:
            text = program.log.read_text(encoding="utf-8", errors="replace")
            matches = [re.search(pattern, text) for pattern in program.announces]
            found.update({name: value for match in matches if match for name, value in match.groupdict().items()})
            return all(matches)

        complaint = (
            f"The {program.name} was not ready after {program.patience_seconds:.0f} s; its last lines, "
            f"all in {program.log}:"
        )
        try:
            self.wait_for(has_announced, complaint=complaint, patience_seconds=program.patience_seconds)
        except Failure as failure:
            raise failure if str(failure) != complaint else Failure(f"{complaint}\n{last_lines(program.log)}") from None
        return found

    def _instruct_watchdog(self, word: str, value: object) -> None:
        with contextlib.suppress(OSError, ValueError):
            if self._watchdog.stdin:
                self._watchdog.stdin.write(f"{word} {value}\n")
                self._watchdog.stdin.flush()


def _end(children: list[Child], seconds: float) -> None:
    for child in children:
        parent_watchdog.end_group(child.popen.pid, by_force=False)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not all(child.is_gone() for child in children):
        time.sleep(TICK_SECONDS)
    for child in children:
        if not child.is_gone():
            parent_watchdog.end_group(child.popen.pid, by_force=True)
            child.popen.wait()
