"""What the service tells of a task, or of a schedule's jobs, becomes what may be shown: known kinds, without secrets.

A value that may be a secret whatever it looks like (an environment variable's, a password, the query of an address) is
never shown. Every other text goes through `redacted`, which knows secrets by their looks and names; what looks like
any other text, within a command line say, can't be told from it.
"""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec.structs import fields

from shared.domain.redaction.redaction import MARK, redacted
from shared.domain.tasks.task_details import (
    ContainerSettings,
    EnvironmentSetting,
    NameValue,
    NodeInfo,
    OutputContainer,
    Registry,
    ResourceFile,
    Shown,
    Statistics,
    TaskDetails,
    UploadHeader,
    UserIdentity,
)

_USER = re.compile(r"//[^/?#@]*@")
_VARIABLE_FOLLOWS = re.compile(r"-[A-Za-z]*[el]|--(?:env|build-arg|label|annotation)")  # of docker run and its like
_VARIABLE_WITHIN = re.compile(r"(-[A-Za-z]*?[el]=?|--(?:env|build-arg|label|annotation)=)(.+)", re.DOTALL)
_UNQUOTED = re.compile(r"[\w@%+=:,./\[\]\-]+", re.ASCII)
_MOST_OMITTED = 100
_ANNOTATION = "odata."  # the protocol's own, in every answer


def hidden(_: str) -> str:
    """Nothing of a text."""
    return MARK


def address(text: str) -> str:
    """An address without its query and fragment, and without users and passwords."""
    place, mark, _ = text.replace("#", "?").partition("?")
    return redacted(_USER.sub(f"//{MARK}@", place)) + (f"?{MARK}" if mark else "")


def run_options(text: str) -> str:
    """Options of a container's start, without the values of variables; nothing where a shell couldn't read them."""
    try:
        words = shlex.split(text)
    except ValueError:
        return MARK
    names = _without_values(words)
    if names == words:
        return redacted(text)
    return redacted(" ".join("=".join(map(_quoted, word.split("=", 1))) for word in names))


def _quoted(text: str) -> str:
    return text if _UNQUOTED.fullmatch(text) or not text else shlex.quote(text)


def _without_values(words: Sequence[str]) -> list[str]:
    """The words of a command line, what follows the first `=` of a variable or label left out."""
    named: list[str] = []
    before = ""
    for word in words:
        follows = _VARIABLE_FOLLOWS.fullmatch(before)
        within = _VARIABLE_WITHIN.fullmatch(word)
        if follows and word == "=":
            named.append(word)
            continue
        if follows:
            named.append(_name_of(word))
        else:
            named.append(within[1] + _name_of(within[2]) if within else word)
        before = word
    return named


def _name_of(variable: str) -> str:
    name, mark, _ = variable.partition("=")
    return name + (mark and mark + MARK)


_RULES: Mapping[type[Shown], Mapping[str, Callable[[str], str]]] = {
    EnvironmentSetting: {"value": hidden},
    UploadHeader: {"value": hidden},
    Registry: {"password": hidden, "registry_server": address},
    UserIdentity: {"password": hidden},
    ResourceFile: {"http_url": address, "storage_container_url": address},
    OutputContainer: {"container_url": address},
    ContainerSettings: {"container_run_options": run_options},
    NodeInfo: {"node_url": address, "task_root_directory_url": address},
    Statistics: {"url": address},
    TaskDetails: {"url": address},
}


def details_of(body: bytes) -> tuple[TaskDetails, tuple[str, ...]]:
    """What may be shown of a task as the service sent it, and the names of the properties that were left out.

    Raises msgspec.MsgspecError or ValueError where it makes no sense.
    """
    return let_through(msgspec.json.decode(body), TaskDetails)


def let_through[T: Shown](sent: Any, kind: type[T]) -> tuple[T, tuple[str, ...]]:
    """What may be shown of parsed JSON as a kind lists it, and the names of the properties that were left out.

    Raises msgspec.ValidationError where it makes no sense.
    """
    shown: T = _shown(msgspec.convert(sent, kind, strict=False))
    omitted = dict.fromkeys(redacted(name) for name in _unknown(sent, kind, ""))
    return shown, tuple(omitted)[:_MOST_OMITTED]


def _shown(value: Any) -> Any:
    """A value without secrets."""
    if isinstance(value, NameValue) and value.name and MARK in redacted(f"{value.name}=x"):
        return NameValue(name=redacted(value.name), value=value.value and MARK)
    if isinstance(value, Shown):
        rules = _RULES.get(type(value), {})
        parts = {item.name: (rules.get(item.name), getattr(value, item.name)) for item in fields(value)}
        return type(value)(
            **{name: rule(part) if rule and part else _shown(part) for name, (rule, part) in parts.items()}
        )
    if isinstance(value, list):
        return [_shown(part) for part in value]
    return redacted(value) if isinstance(value, str) else value


def _unknown(sent: Any, kind: Any, path: str) -> Iterator[str]:
    """Names of what was sent and isn't let through, like `userIdentity.colour`; those of a list's entries once."""
    shown = _kind_of(kind)
    if shown is None:
        return
    if isinstance(sent, list):
        for part in sent:
            yield from _unknown(part, shown, path)
    elif isinstance(sent, dict):
        known = {item.encode_name: item.type for item in fields(shown)}
        for name, part in sent.items():
            if name in known:
                yield from _unknown(part, known[name], f"{path}{name}.")
            elif not name.startswith(_ANNOTATION):
                yield path + name


def _kind_of(kind: Any) -> type[Shown] | None:
    """The kind of Shown that a field may be, or a list of; None where it is none."""
    if isinstance(kind, type) and issubclass(kind, Shown):
        return kind
    found = (_kind_of(part) for part in get_args(kind) if part is not type(None))
    return next((part for part in found if part), None)
