"""Records of a session's beginning: the tag that marks them, and texts of the node as they may leave it."""

from __future__ import annotations

from collections.abc import Mapping

from agent.records.record import Record, Value

ONCE: Mapping[str, str] = {"vm_monitor_collection": "once"}
"""The tag by which the app recognizes startup records; a repeated one begins a new session."""
MAX_TEXT = 256
"""Characters of one fact."""


def once(measurement: str, fields: Mapping[str, Value | None], tags: Mapping[str, str] | None = None) -> Record:
    """Returns a startup record of the fields that are known: neither None nor empty text."""
    known = {name: value for name, value in fields.items() if value is not None and value != ""}
    return Record(measurement, known, {**(tags or {}), **ONCE})


def fact(value: object) -> str | None:
    """Returns a fact's printable text without surrounding space; None for anything but a text or a number."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return "".join(sign if sign.isprintable() else " " for sign in str(value)[:MAX_TEXT]).strip() or None
