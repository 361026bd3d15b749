"""Runs one tool to its end, with its output in a log or captured.

It leaves no tool behind: any interruption of the wait ends the tool first.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from local.dev.system import parent_watchdog
from local.dev.system.console import Failure

GRACE_SECONDS = 3.0
SHOWN_LINES = 12


@dataclass(frozen=True, slots=True)
class Outcome:
    exit_code: int
    output: str


def last_lines(log: Path, count: int = SHOWN_LINES) -> str:
    """Returns the end of a log, indented for a terminal; empty when there is none."""
    if not log.exists():
        return ""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-count:])


@contextlib.contextmanager
def _started(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str] | None, output: IO[bytes] | int
) -> Iterator[subprocess.Popen[bytes]]:
    try:
        tool = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise Failure(f"{command[0]} could not be started: {error.strerror}.") from error
    try:
        yield tool
    finally:
        if tool.poll() is None:
            parent_watchdog.end_group(tool.pid, by_force=False)
            with contextlib.suppress(subprocess.TimeoutExpired):
                tool.wait(GRACE_SECONDS)
            parent_watchdog.end_group(tool.pid, by_force=True)
            tool.wait()


def run_logged(command: Sequence[str], *, log: Path, cwd: Path, environment: Mapping[str, str] | None = None) -> None:
    """Runs a tool with its output in `log`. Raises Failure with the log's end if it doesn't succeed."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output, _started(command, cwd, environment, output) as tool:
        exit_code = tool.wait()
    if exit_code != 0:
        name = Path(command[0]).name
        raise Failure(f"{name} ended with exit code {exit_code}; its last lines, all in {log}:\n{last_lines(log)}")


def run_shown(command: Sequence[str], *, cwd: Path, environment: Mapping[str, str] | None = None) -> Outcome:
    """Runs a tool and returns its output."""
    with _started(command, cwd, environment, subprocess.PIPE) as tool:
        output, _ = tool.communicate()
    return Outcome(tool.returncode, output.decode("utf-8", "replace"))
