"""Command lines as scripts: what they write, when, and where to.

`sleep N` takes time, `exit N` ends the script, `echo …` and `touch …` write, and so does the program `emulate`, which
exists only here. All others take no time and write nothing. Output goes to stdout, with `>&2` to stderr, with `> FILE`
or `>> FILE` to a file below the task's working directory.
"""

import base64
import binascii
import posixpath
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from local.batch_emulator.contents.forms import FORMS
from local.batch_emulator.contents.last_words import failure_kinds

STDOUT, STDERR = "stdout.txt", "stderr.txt"
UNKNOWN_FAILURE_CODE = 2
_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)")
_EXIT = re.compile(r"exit\b")
_SHELL = re.compile(
    r"""\s*(?:\S*[/\\])?(?:ba|da|z)?(?:sh|cmd)(?:\.exe)?\s+(?:-\w*c|/c)\s+(.*)""", re.IGNORECASE | re.DOTALL
)
_SEPARATOR = re.compile(r"&&|;|\n|\s&\s")
_ECHO = re.compile(r"@?echo\s+(-n\s+)?(.*)", re.DOTALL)
_TO_ERRORS = re.compile(r"\s*1?>&2\s*")
_TO_FILE = re.compile(r"""(?<![0-9&>])(>>?)\s*("[^"]+"|'[^']+'|[^\s"'<>|&]+)\s*$""")
_QUOTED = re.compile(r"""(["'])(.*)\1""", re.DOTALL)
_SIZE = re.compile(r"\d{1,15}(?:B|KiB|MiB|GiB|TiB)?", re.ASCII)
_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_RATE = re.compile(r"\d{1,9}(?:\.\d{1,9})?")
_USAGE = "emulate: there is no '%s'; see docs/emulator.md\n"


@dataclass(frozen=True, slots=True)
class Literal:
    """Bytes that the command line gives."""

    raw: bytes


@dataclass(frozen=True, slots=True)
class Filling:
    """`size` bytes of one of FORMS."""

    form: str
    size: int


@dataclass(frozen=True, slots=True)
class Log:
    """Lines that are written from now on until the script ends, `rate` a second.

    A file of `max_size` bytes is renamed, and the last `kept` renamed ones are kept; 0 for a file that may grow.
    """

    rate: float
    max_size: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class LastWords:
    """The last words of a failure of a kind, which end the script."""

    kind: str


type Output = Literal | Filling | Log | LastWords


@dataclass(frozen=True, slots=True)
class Step:
    """An output, so many seconds after the start, to a file below the task's directory; `overwrites` its content."""

    seconds: float
    output: Output
    file: str = STDOUT
    overwrites: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """A script's steps in their order, its length in seconds, and the exit code of its emulated failure, or 0."""

    steps: tuple[Step, ...]
    seconds: float
    failure_code: int = 0

    def after(self, first: "Script") -> "Script":
        """Returns a script that runs behind another."""
        steps = tuple(replace(step, seconds=step.seconds + first.seconds) for step in self.steps)
        return Script(first.steps + steps, first.seconds + self.seconds, self.failure_code)


def sleep_seconds(command_line: str) -> list[float]:
    """Returns the lengths of all sleeps of a command line."""
    return [float(text) for text in _SLEEP.findall(command_line)]


@lru_cache(512)
def parse_script(command_line: str) -> Script:
    shell = _SHELL.fullmatch(command_line)
    steps: list[Step] = []
    seconds, code = 0.0, 0
    for part in _SEPARATOR.split(_unquoted(shell[1] if shell else command_line)):
        text = part.partition("||")[0].strip()
        if _EXIT.match(text):
            break
        steps += _steps(text, seconds)
        seconds += sum(sleep_seconds(part))
        if steps and isinstance(words := steps[-1].output, LastWords):
            code = failure_kinds()[words.kind].exit_code
            break
        if text.startswith("emulate failure "):
            code = UNKNOWN_FAILURE_CODE
            break
    return Script(tuple(steps), sum(sleep_seconds(command_line)), code)


def writes_files(command_line: str) -> bool:
    """Returns whether a command line may write other files than its outputs."""
    return ">" in command_line or "touch " in command_line


def _steps(text: str, seconds: float) -> Iterator[Step]:
    """Yields the output of a program, unless it goes to a pipe or outside of the task's directory."""
    if text.startswith("touch "):
        if file := _file(text.removeprefix("touch ")):
            yield Step(seconds, Literal(b""), file)
        return
    default = STDERR if _TO_ERRORS.search(text) else STDOUT
    command = _TO_ERRORS.sub(" ", text).strip()
    target = _TO_FILE.search(command)
    file = _file(target[2]) if target else default
    output = _output(command[: target.start()].strip() if target else command)
    if isinstance(output, str):
        yield Step(seconds, Literal(output.encode()), STDERR)
    elif output and file:
        yield Step(seconds, output, file, overwrites=target is not None and target[1] == ">")


def _output(command: str) -> Output | str | None:
    """Returns the output of a command; a text if it is wrong, and None if it has none."""
    echo = _ECHO.fullmatch(command)
    if echo:
        text = _unquoted(echo[2]) + ("" if echo[1] else "\n")
        return None if set("|>") & set(echo[2]) else Literal(text.encode())
    program, *words = command.split()[:5] or [""]
    if program != "emulate":
        return None
    return _emulated(words) or _USAGE % " ".join(words)


def _emulated(words: list[str]) -> Output | None:
    match words:
        case ["failure", kind] if kind in failure_kinds():
            return LastWords(kind)
        case ["log", rate] if _is_rate(rate):
            return Log(float(rate))
        case ["log", rate, text, kept] if _is_rate(rate) and _is_size(text) and kept.isdecimal():
            return Log(float(rate), _size(text), int(kept))
        case ["base64", text]:
            return _decoded(text)
        case [form, text] if form in FORMS and _is_size(text):
            return Filling(form, _size(text))
    return None


def _decoded(text: str) -> Output | None:
    try:
        return Literal(base64.b64decode(text, validate=True))
    except binascii.Error:
        return None


def _is_rate(text: str) -> bool:
    return _RATE.fullmatch(text) is not None and float(text) > 0


def _is_size(text: str) -> bool:
    return _SIZE.fullmatch(text) is not None


def _size(text: str) -> int:
    """Returns the bytes of a text that is a size."""
    number = text.rstrip(string.ascii_letters)
    return int(number) * _UNITS[text.removeprefix(number)]


def _file(text: str) -> str | None:
    """Returns the path of a file below the task's directory, None for one elsewhere."""
    name = _unquoted(text)
    path = posixpath.normpath(f"wd/{name}")
    return None if name.startswith(("/", "$", "~", "&")) or path in (".", "wd") or path.startswith("..") else path


def _unquoted(text: str) -> str:
    found = _QUOTED.fullmatch(text.strip())
    return found[2] if found else text.strip()
