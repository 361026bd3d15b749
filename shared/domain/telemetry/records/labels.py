"""The identity of a blob's telemetry, extracted from the blob's name by a configurable pattern.

`**/{job}/{task}/{attempt}/vm_perf_metrics.*`: `{name}` captures a part of one folder's or file's name, `*` matches any
part of one, `**` any number of folders, including none. Nothing is inferred from a blob's depth.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from shared.domain.core.keys import key_of

_PARTS = re.compile(r"\{([a-z]+)\}|(\*)|([^{}*]+)|(.)", re.DOTALL)
_MAX_FOLDERS = 2  # of any depth, so that long names match quickly


@dataclass(frozen=True, slots=True)
class Identity:
    """The pool, node, job, task and attempt that telemetry belongs to; unknown parts are empty."""

    pool: str = ""
    node: str = ""
    job: str = ""
    task: str = ""
    attempt: str = ""

    def over(self, other: "Identity") -> "Identity":
        """Returns this identity with its gaps filled from another."""
        return Identity(*(getattr(self, part) or getattr(other, part) for part in PARTS))

    def within(self, other: "Identity") -> "Identity":
        """Returns this identity with gaps filled from a containing one.

        A task is only filled in for the same job, an attempt only for the same task.
        """
        if _differ(self.job, other.job):
            other = replace(other, task="", attempt="")
        return self.over(replace(other, attempt="") if _differ(self.task, other.task) else other)

    def of_task(self, other: "Identity") -> "Identity":
        """Returns the same node with the job, task and attempt of another identity, also where these are unknown."""
        return replace(self, job=other.job, task=other.task, attempt=other.attempt)


def _differ(one: str, other: str) -> bool:
    return bool(one and other) and key_of(one) != key_of(other)


PARTS = tuple(part.name for part in fields(Identity))


class PathPattern:
    """A compiled path pattern."""

    __slots__ = ("_pattern",)

    def __init__(self, text: str) -> None:
        """Raises ValueError, with a sentence for a person, for an invalid pattern."""
        folders = text.split("/")
        if folders.count("**") > _MAX_FOLDERS:
            raise ValueError(f"the path pattern {text!r} has ** more than {_MAX_FOLDERS} times")
        try:
            self._pattern = re.compile("".join(_written(folder) for folder in folders).removesuffix("/"))
        except (ValueError, re.error) as error:
            raise ValueError(
                f"the path pattern {text!r} makes no sense: parts are written {{name}}, each once, * or **"
            ) from error

    def labels(self, path: str) -> Mapping[str, str]:
        """Returns the parts captured from a name; none where the pattern doesn't match it."""
        found = self._pattern.fullmatch(path)
        return found.groupdict() if found else {}

    def identity(self, path: str) -> Identity:
        """Returns the captured parts that form an identity; a pattern may have other parts, too."""
        return Identity(**{name: part for name, part in self.labels(path).items() if name in PARTS})


def _written(folder: str) -> str:
    """Returns a folder of the pattern as a regular expression. Raises ValueError."""
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
