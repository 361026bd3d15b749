"""Filters the service's description of a task, or of a schedule's jobs: only known properties pass, without secrets.

A value that may be a secret in any form (of an environment variable, a password, an address's query) is never shown.
All other text goes through `redacted`, which recognizes secrets by form and name. It misses a secret that looks like
ordinary text, such as one within a command line.
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
    ShownProperties,
    Statistics,
    TaskDetails,
    UploadHeader,
    UserIdentity,
)

_USER = re.compile(r"//[^/?#@]*@")
_VARIABLE_FOLLOWS = re.compile(r"-[A-Za-z]*[el]|--(?:env|build-arg|label|annotation)")  # of docker run and the like
_VARIABLE_WITHIN = re.compile(r"(-[A-Za-z]*?[el]=?|--(?:env|build-arg|label|annotation)=)(.+)", re.DOTALL)
_UNQUOTED = re.compile(r"[\w@%+=:,./\[\]\-]+", re.ASCII)
_MAX_OMITTED = 100
_ANNOTATION = "odata."  # the protocol's own properties, in every response


def hidden(_: str) -> str:
    """Returns the mask in place of any text."""
    return MARK


def address(text: str) -> str:
    """Returns an address without its query, fragment, user and password."""
    place, mark, _ = text.replace("#", "?").partition("?")
    return redacted(_USER.sub(f"//{MARK}@", place)) + (f"?{MARK}" if mark else "")


def run_options(text: str) -> str:
    """Returns a container's run options without the values of variables; the mask where a shell couldn't parse them."""
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
    """Returns the words of a command line without the text after the first `=` of a variable or label."""
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


_RULES: Mapping[type[ShownProperties], Mapping[str, Callable[[str], str]]] = {
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
    """Returns the parts of a task's JSON that may be shown, and the names of the omitted properties.

    Raises msgspec.MsgspecError or ValueError for an invalid body.
    """
    return let_through(msgspec.json.decode(body), TaskDetails)


def let_through[T: ShownProperties](sent: Any, kind: type[T]) -> tuple[T, tuple[str, ...]]:
    """Returns the properties of parsed JSON that `kind` lists, without secrets, and the names of the omitted ones.

    Raises msgspec.ValidationError for invalid input.
    """
    shown = without_secrets(msgspec.convert(sent, kind, strict=False))
    omitted = dict.fromkeys(redacted(name) for name in _unknown(sent, kind, ""))
    return shown, tuple(omitted)[:_MAX_OMITTED]


def without_secrets[T: ShownProperties](found: T) -> T:
    """Returns properties without secrets."""
    shown: T = _shown(found)
    return shown


def _shown(value: Any) -> Any:
    if isinstance(value, NameValue) and value.name and MARK in redacted(f"{value.name}=x"):
        return NameValue(name=redacted(value.name), value=value.value and MARK)
    if isinstance(value, ShownProperties):
        rules = _RULES.get(type(value), {})
        parts = {item.name: (rules.get(item.name), getattr(value, item.name)) for item in fields(value)}
        return type(value)(
            **{name: rule(part) if rule and part else _shown(part) for name, (rule, part) in parts.items()}
        )
    if isinstance(value, list):
        return [_shown(part) for part in value]
    return redacted(value) if isinstance(value, str) else value


def _unknown(sent: Any, kind: Any, path: str) -> Iterator[str]:
    """Yields names of properties that aren't listed, like `userIdentity.colour`, without indexes of list entries."""
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


def _kind_of(kind: Any) -> type[ShownProperties] | None:
    """Returns the class of Shown that a field holds, also within a list or union; None for other fields."""
    if isinstance(kind, type) and issubclass(kind, ShownProperties):
        return kind
    found = (_kind_of(part) for part in get_args(kind) if part is not type(None))
    return next((part for part in found if part), None)
