"""The program's own deepest frame in the stack that belongs to an error."""

import re
from collections.abc import Callable, Iterable, Sequence

from shared.domain.outputs.log_prefixes import without_prefix

_MAX_FRAMES = 200
_TRACEBACK = "Traceback (most recent call last)"
_PYTHON = re.compile(r"\s{0,40}File \"(?P<file>[^\"]{1,500})\", line \d{1,9},? in (?P<name>\S{1,200})")
_JVM = re.compile(r"\s{1,40}at (?:[\w.]{1,40}/)?(?P<name>[\w$.<>]{1,300})\(")
_NATIVE_OF_JVM = re.compile(r"# [CJVvj]\s{1,4}\[(?P<name>[^+\]\s]{1,100})\+0x")
_GO = re.compile(r"(?P<name>[\w./-]{1,200}\.(?:\(\*?\w{1,60}\)\.)?[\w.]{1,80})\(.{0,400}\)\Z")
_OTHERS = re.compile(
    r"java|javax\.|jdk\.|sun\.|scala\.|kotlin\.|System\.|Microsoft\.|org\.(?:apache|springframework|junit)\."
    r"|runtime|panic"
    r"|.{0,400}(?:/site-packages/|/dist-packages/|/lib(?:64)?/python\d|<frozen|<string>)"
)


def own_frame(lines: Sequence[str], first: int, last: int) -> tuple[str, int | None]:
    """Returns the frame's name and line: above a Python exception, below an exception of another runtime.

    `first` and `last` are the lines of the error. The name is empty, and the line None, where no stack is there.
    """
    for index in range(first - 1, max(-1, first - _MAX_FRAMES), -1):
        if name := _python_name(without_prefix(lines[index]).text):
            return name, index
        if _TRACEBACK in lines[index]:
            break
    below = range(last + 1, min(len(lines), last + _MAX_FRAMES))
    return _first(lines, below, _jvm_name) or _first(lines, below[:12], _crash_name) or ("", None)


def _first(
    lines: Sequence[str], places: Iterable[int], name_of: Callable[[str], str | None]
) -> tuple[str, int | None] | None:
    """Returns the first frame with a name; an empty name skips a line, None ends the stack."""
    for index in places:
        name = name_of(lines[index])
        if name is None:
            return None
        if name:
            return name, index
    return None


def _python_name(line: str) -> str:
    found = _PYTHON.match(line)
    if found is None or _OTHERS.match(found["file"]):
        return ""
    file: str = re.split(r"[\\/]", found["file"])[-1]
    return f"{file}: {found['name']}"


def _jvm_name(line: str) -> str | None:
    found = _JVM.match(line)
    if found is None:
        return None
    return "" if _OTHERS.match(found["name"]) else ".".join(found["name"].split(".")[-2:])


def _crash_name(line: str) -> str:
    """Returns the name of a frame of a crash: of Go, of Python's fault handler, or the library where a JVM crashed."""
    found = _NATIVE_OF_JVM.match(line) or _GO.match(line)
    if found:
        return "" if _OTHERS.match(found["name"]) else found["name"]
    return _python_name(line)
