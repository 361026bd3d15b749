"""The outcome of a command line: `sleep N`, `exit N` and emulated failures have their effect, others end at once."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.batch_emulator.contents.scripts import Script, parse_script, sleep_seconds

_EXIT = re.compile(r"\bexit\s+(-?\d+)")
_EMULATED = "emulate "
_DEFAULT_SECONDS = (0.05, 0.3)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The run time, in seconds before the speed shortens it, and the exit code."""

    seconds: float
    exit_code: int


def command_result(command_line: str, rng: random.Random) -> CommandResult:
    sleeps = sleep_seconds(command_line)
    seconds = sum(sleeps) if sleeps else rng.uniform(*_DEFAULT_SECONDS)
    return CommandResult(seconds, exit_code(command_line))


def exit_code(command_line: str) -> int:
    """Returns the code of the last `exit N`, otherwise that of an emulated failure."""
    exits = _EXIT.findall(command_line)
    if exits:
        return int(exits[-1])
    return parse_script(command_line).failure_code if _EMULATED in command_line else 0


def task_result(spec: Mapping[str, Any], rng: random.Random) -> CommandResult:
    """Returns the result of a task: of several instances, those run the coordination command first (documented).

    If that fails, the task fails with its exit code.
    """
    settings = spec.get("multiInstanceSettings")
    first = command_result(str(settings["coordinationCommandLine"]), rng) if settings else CommandResult(0, 0)
    if first.exit_code:
        return first
    found = command_result(str(spec["commandLine"]), rng)
    return CommandResult(first.seconds + found.seconds, found.exit_code)


def task_script(spec: Mapping[str, Any]) -> Script:
    """Returns what a task writes: of several instances, its primary also runs the coordination command first."""
    script = parse_script(str(spec["commandLine"]))
    settings = spec.get("multiInstanceSettings")
    if not settings:
        return script
    line = str(settings["coordinationCommandLine"])
    return parse_script(line) if exit_code(line) else script.after(parse_script(line))
