"""The shape of a JSON body: its paths, and the type and format of the value at each."""

import re
from collections.abc import Iterator
from typing import Any

_FORMATS = {
    "moment": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?Z"),
    "etag": re.compile(r"0x[0-9A-F]{15}"),
    "duration": re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?([\d.]+S)?)?"),
    "guid": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "url": re.compile(r"https?://.*", re.DOTALL),
    "node": re.compile(r"tvmps_[0-9a-f]{64}_[dp]"),
    "address": re.compile(r"\d+(\.\d+){3}"),
    "error": re.compile(r".+\nRequestId:[0-9a-f-]{36}\nTime:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z", re.DOTALL),
}


def shape(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields paths with their kinds; the items of a list share one path."""
    if isinstance(value, dict):
        yield path, "object"
        for name, inner in value.items():
            yield from shape(inner, f"{path}/{name}")
    elif isinstance(value, list):
        yield path, "list"
        for inner in value:
            yield from shape(inner, f"{path}[]")
    else:
        yield path, f"word {value}" if _WORDS.fullmatch(path) else kind(value)


_WORDS = re.compile(
    r".*/(state|schedulingState|allocationState|previousState|taskState|result|nodeFillType|onAllTasksComplete"
    r"|onTaskFailure|verificationType|osType|scope|elevationLevel|lang|status|code|category|poolLifetimeOption)"
)


def kind(value: Any) -> str:
    """Returns the JSON type, or the format of a string in a known format."""
    if not isinstance(value, str):
        return type(value).__name__
    return next((name for name, pattern in _FORMATS.items() if pattern.fullmatch(value)), "text")


def header_kind(name: str, value: str) -> str:
    if name in ("date", "last-modified"):
        return "date" if re.fullmatch(r"\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT", value) else "text"
    found = kind(value)
    return found if found in ("etag", "guid", "url") else value
