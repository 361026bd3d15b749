"""The outcome of a command line: `sleep N`, `exit N` and `echo …` have their effect, other programs end immediately."""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_EXIT = re.compile(r"\bexit\s+(-?\d+)")
_SHELL = re.compile(
    r"""\s*(?:\S*[/\\])?(?:ba|da|z)?(?:sh|cmd)(?:\.exe)?\s+(?:-\w*c|/c)\s+(.*)""", re.IGNORECASE | re.DOTALL
)
_SEPARATOR = re.compile(r"&&|;|\n|\s&\s")
_ECHO = re.compile(r"@?echo\s+(-n\s+)?(.*)", re.DOTALL)
_TO_ERRORS = re.compile(r"\s*1?>&2\s*")
_QUOTED = re.compile(r"""(["'])(.*)\1""", re.DOTALL)
_DEFAULT_SECONDS = (0.05, 0.3)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The run time, in seconds before the speed shortens it, and the exit code."""

    seconds: float
    exit_code: int


def command_result(command_line: str, rng: random.Random) -> CommandResult:
    sleeps = _SLEEP.findall(command_line)
    seconds = sum(map(float, sleeps)) if sleeps else rng.uniform(*_DEFAULT_SECONDS)
    return CommandResult(seconds, exit_code(command_line))


def exit_code(command_line: str) -> int:
    exits = _EXIT.findall(command_line)
    return int(exits[-1]) if exits else 0


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


def command_output(command_line: str) -> tuple[str, str]:
    """Returns the outputs to stdout and stderr: echoes up to `exit`, except into files and pipes."""
    shell = _SHELL.fullmatch(command_line)
    written = {False: "", True: ""}
    for part in _SEPARATOR.split(_unquoted(shell[1] if shell else command_line)):
        step = part.partition("||")[0].strip()
        if _EXIT.match(step):
            break
        is_error = _TO_ERRORS.search(step) is not None
        echo = _ECHO.fullmatch(_TO_ERRORS.sub(" ", step).strip())
        if echo and not set("|>") & set(echo[2]):
            written[is_error] += _unquoted(echo[2]) + ("" if echo[1] else "\n")
    return written[False], written[True]


def _unquoted(text: str) -> str:
    found = _QUOTED.fullmatch(text.strip())
    return found[2] if found else text.strip()
