"""A Batch event: its kind, time, job, task, pool and node, and the format of times and names in the log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

IDENTITY_BYTES = 12
AHEAD = timedelta(hours=1)
"""The largest assumed clock difference between the service and us; the same as for nodes."""
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?\s*(?:Z|([+-])(\d\d):?(\d\d))?", re.IGNORECASE)

type Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BatchEvent:
    """One event; `at` is when the service logged it. Ids are as received, None where the event names none.

    `identity` is the same for every delivery of one event, though deliveries have different times. `claimed` is the
    logged time where it is impossible: then `at` is when the event was read.
    """

    at: datetime
    kind: str
    job: str | None
    task: str | None
    pool: str | None
    node: str | None
    properties: Json
    identity: bytes
    claimed: datetime | None = None

    def read_at(self, now: datetime) -> "BatchEvent":
        """Returns the event dated now if its time is implausibly far ahead: otherwise it would stay on top of lists."""
        return replace(self, at=now, claimed=self.at) if self.at > now + AHEAD else self

    @property
    def id(self) -> str:
        """Returns an id unique within the account: a recurrence has the same identity, but another time."""
        return f"{minute_of(self.at):x}-{self.identity.hex()}"


def minute_of(moment: datetime) -> int:
    """Returns whole minutes since 1970."""
    return int(moment.timestamp() // 60)


def parse_stamp(text: object) -> datetime | None:
    """Parses a time like `2019-08-22T20:59:13.5698778Z` or `2019-08-22 20:50:59.522`; None if it is none."""
    match = _STAMP.fullmatch(text.strip()) if isinstance(text, str) else None
    if not match:
        return None
    day, time, fraction, sign, hours, minutes = match.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    try:
        moment = datetime.fromisoformat(f"{day}T{time}.{(fraction or '')[:6]:0<6}")
        moment = moment.replace(tzinfo=timezone(offset)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.timestamp() >= 0 else None


def field_of(found: object, *names: str) -> Any:
    """Returns the value at a path of case-insensitive names, or None."""
    for name in names:
        found = _field(found, name) if isinstance(found, dict) else None
    return found


def text_of(found: object, name: str) -> str | None:
    """Returns a text with content: the service writes one space for an empty text."""
    value = field_of(found, name)
    return value.strip() or None if isinstance(value, str) else None


def _field(found: dict[str, Any], name: str) -> Any:
    if name in found:
        return found[name]
    return next((value for key, value in found.items() if key.lower() == name.lower()), None)
