"""What a blob's name tells of whose telemetry it holds, by a pattern that people configure.

`**/{job}/{task}/{attempt}/vm_perf_metrics.*`: `{name}` is a part of one folder's or file's name, `*` any part of one,
`**` any number of folders, none included. Nothing is guessed from how deep a blob lies.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from shared.domain.core.keys import key_of

_PARTS = re.compile(r"\{([a-z]+)\}|(\*)|([^{}*]+)|(.)", re.DOTALL)
_MOST_FOLDERS = 2  # of any depth, so that a long name is quickly told


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose telemetry it is; a part that isn't known is empty."""

    pool: str = ""
    node: str = ""
    job: str = ""
    task: str = ""
    attempt: str = ""

    def over(self, other: "Identity") -> "Identity":
        """This one, its gaps filled from another."""
        return Identity(*(getattr(self, part) or getattr(other, part) for part in PARTS))

    def within(self, other: "Identity") -> "Identity":
        """This one, its gaps filled from what it may be a part of: no task of another job, nor another's attempt."""
        if _differ(self.job, other.job):
            other = replace(other, task="", attempt="")
        return self.over(replace(other, attempt="") if _differ(self.task, other.task) else other)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and key_of(one) != key_of(other)


PARTS = tuple(part.name for part in fields(Identity))


class PathPattern:
    """A compiled pattern."""

    __slots__ = ("_pattern",)

    def __init__(self, text: str) -> None:
        """Raises ValueError, with a sentence for a person, where it makes no sense."""
        folders = text.split("/")
        if folders.count("**") > _MOST_FOLDERS:
            raise ValueError(f"the path pattern {text!r} has ** more than {_MOST_FOLDERS} times")
        try:
            self._pattern = re.compile("".join(_written(folder) for folder in folders).removesuffix("/"))
        except (ValueError, re.error) as error:
            raise ValueError(
                f"the path pattern {text!r} makes no sense: parts are written {{name}}, each once, * or **"
            ) from error

    def labels(self, path: str) -> Mapping[str, str]:
        """The parts that a name gives; none where the pattern doesn't match it."""
        found = self._pattern.fullmatch(path)
        return found.groupdict() if found else {}

    def identity(self, path: str) -> Identity:
        """The same of what says whose telemetry it is; other parts of a pattern are free."""
        return Identity(**{name: part for name, part in self.labels(path).items() if name in PARTS})


def _written(folder: str) -> str:
    """A folder of the pattern as a regular expression. Raises ValueError."""
    if folder == "**":
        return "(?:[^/]+/)*"
    if "**" in folder:
        raise ValueError("** is a folder of its own")
    return "".join(map(_part, _PARTS.finditer(folder))) + "/"


def _part(found: re.Match[str]) -> str:
    name, star, text, other = found.groups()
    if other:
        raise ValueError("a bracket without its other")
    if name:
        return f"(?P<{name}>[^/]+?)"
    return "[^/]*" if star else re.escape(text)
