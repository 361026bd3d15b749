"""`$filter` as Batch documents it: properties and operators per resource, `and`, `or`, parentheses, startswith.

A filter is compiled to a predicate over the entity's JSON. Anything undocumented is refused with the documented 400.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from local.batch_emulator.faults import bad_query
from local.batch_emulator.stamps import parse_stamp

type Predicate = Callable[[Mapping[str, Any]], bool]
_ALL = ("eq", "ne", "ge", "gt", "le", "lt")
_SOME = ("eq", "ne")
_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {name: getattr(operator, name) for name in _ALL}
_TOKEN = re.compile(
    r"\s*(?:(?P<time>DateTime'(?P<stamp>[^']*)')|(?P<text>'(?:[^']|'')*')|(?P<number>-?\d+)(?![\w.])"
    r"|(?P<word>[A-Za-z][\w/]*)|(?P<mark>[(),]))"
)


@dataclass(frozen=True, slots=True)
class Property:
    """How a property may be filtered; `kind` is String, DateTime, Int or Boolean."""

    kind: str
    operators: tuple[str, ...]
    startswith: bool = False


_ID = Property("String", _ALL, startswith=True)
_WORD, _TIME, _INT, _BOOL = (
    Property("String", _SOME),
    Property("DateTime", _ALL),
    Property("Int", _ALL),
    Property("Boolean", _SOME),
)
_TIMES = {"stateTransitionTime": _TIME, "creationTime": _TIME}
RESOURCES: Mapping[str, Mapping[str, Property]] = {
    "tasks": {
        "id": _ID, "state": _WORD, **_TIMES, "lastModifiedTime": _TIME, "executionInfo/startTime": _TIME,
        "executionInfo/endTime": _TIME, "executionInfo/exitCode": _INT, "executionInfo/result": _WORD,
    },
    "jobs": {
        "id": _ID, "state": _WORD, **_TIMES, "lastModified": _TIME, "executionInfo/startTime": _TIME,
        "executionInfo/endTime": _TIME, "executionInfo/poolId": _ID,
    },
    "pools": {
        "id": _ID, "state": _WORD, **_TIMES, "allocationState": Property("String", ("eq",)),
        "allocationStateTransitionTime": _TIME, "enableAutoScale": _BOOL, "lastModified": _TIME, "vmSize": _WORD,
        "enableInterNodeCommunication": _BOOL,
    },
    "nodes": {
        "state": _WORD, "stateTransitionTime": _TIME, "lastBootTime": _TIME, "allocationTime": _TIME,
        "startTaskInfo/state": Property("String", ("eq",)), "startTaskInfo/result": _WORD,
        "startTaskInfo/exitCode": _INT, "startTaskInfo/startTime": _TIME, "startTaskInfo/endTime": _TIME,
    },
    "nodecounts": {"poolId": Property("String", ("eq",))},
}  # fmt: skip
_RENAMED = {"lastModifiedTime": "lastModified"}


@dataclass(frozen=True, slots=True)
class Filter:
    """A compiled filter; `changed_since` is set where it is nothing but `stateTransitionTime ge` (ticks)."""

    matches: Predicate
    changed_since: int | None = None


def compile_filter(text: str, resource: str) -> Filter:
    """Raises BatchFaultError (400 InvalidQueryParameterValue)."""
    parser = _Parser(text, resource)
    predicate = parser.whole()
    only = re.fullmatch(r"\s*stateTransitionTime\s+ge\s+DateTime'([^']+)'\s*", text)
    return Filter(predicate, parse_stamp(only[1]) if only else None)


class _Parser:
    def __init__(self, text: str, resource: str) -> None:
        self._text = text
        self._properties = RESOURCES[resource]
        self._tokens = list(self._scan())
        self._at = 0

    def whole(self) -> Predicate:
        predicate = self._either()
        if self._at < len(self._tokens):
            raise self._wrong(f"'{self._tokens[self._at][1]}' isn't expected there")
        return predicate

    def _scan(self) -> Any:
        at = 0
        while at < len(self._text.rstrip()):
            found = _TOKEN.match(self._text, at)
            if found is None:
                raise self._wrong(f"there is something that can't be read at position {at}")
            kind = found.lastgroup if found["time"] is None else "time"
            yield (kind, found["stamp"] if kind == "time" else found[kind or "word"])
            at = found.end()

    def _either(self) -> Predicate:
        parts = [self._both()]
        while self._take("word", "or"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda entity: any(part(entity) for part in parts)

    def _both(self) -> Predicate:
        parts = [self._one()]
        while self._take("word", "and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else lambda entity: all(part(entity) for part in parts)

    def _one(self) -> Predicate:
        if self._take("mark", "("):
            predicate = self._either()
            self._expect("mark", ")")
            return predicate
        name = self._expect("word")
        return self._startswith() if name == "startswith" else self._comparison(name)

    def _startswith(self) -> Predicate:
        self._expect("mark", "(")
        name = self._expect("word")
        self._expect("mark", ",")
        prefix = self._unquoted(self._expect("text")).lower()
        self._expect("mark", ")")
        if not self._property(name).startswith:
            raise self._wrong(f"startswith isn't supported for '{name}'")
        return lambda entity: str(_value(entity, name) or "").lower().startswith(prefix)

    def _comparison(self, name: str) -> Predicate:
        found = self._property(name)
        symbol = self._expect("word")
        if symbol not in found.operators:
            raise self._wrong(f"the operator '{symbol}' isn't supported for '{name}'")
        literal = self._literal(found, name)
        compare = _OPERATORS[symbol]
        source = _RENAMED.get(name, name)
        if found.kind == "DateTime":
            return lambda entity: (text := _value(entity, source)) is not None and compare(parse_stamp(text), literal)
        if found.kind == "String":
            return lambda entity: compare(str(_value(entity, source) or "").lower(), literal)
        return lambda entity: (value := _value(entity, source)) is not None and compare(value, literal)

    def _literal(self, found: Property, name: str) -> Any:
        kind, text = self._next()
        if found.kind == "DateTime" and kind == "time":
            try:
                return parse_stamp(text)
            except ValueError:
                raise self._wrong(f"'{text}' isn't a time") from None
        if found.kind == "String" and kind == "text":
            return self._unquoted(text).lower()
        if found.kind == "Int" and kind == "number":
            return int(text)
        if found.kind == "Boolean" and text in ("true", "false"):
            return text == "true"
        raise self._wrong(f"'{name}' is compared with a {found.kind}")

    def _property(self, name: str) -> Property:
        found = self._properties.get(name)
        if found is None:
            raise self._wrong(f"'{name}' can't be filtered")
        return found

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise self._wrong("it ends too early")
        self._at += 1
        token: tuple[str, str] = self._tokens[self._at - 1]
        return token

    def _take(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, text):
            self._at += 1
            return True
        return False

    def _expect(self, kind: str, text: str | None = None) -> str:
        found_kind, found = self._next()
        if found_kind != kind or (text is not None and found != text):
            raise self._wrong(f"'{found}' isn't expected there")
        return found

    def _unquoted(self, text: str) -> str:
        return text[1:-1].replace("''", "'")

    def _wrong(self, reason: str) -> Exception:
        return bad_query("$filter", self._text, reason)


def _value(entity: Mapping[str, Any], path: str) -> Any:
    first, _, rest = path.partition("/")
    value = entity.get(first)
    return _value(value, rest) if rest and isinstance(value, Mapping) else (None if rest else value)
