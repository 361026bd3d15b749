"""The column of a pool's usage ledger in the head of its nodes: its days, each compressed on its own.

A ledger has a hundred hours. A write changes the last one or two, so the days before aren't packed again.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from shared.domain.usage.billing_classes import CLASSES, BillingClass
from shared.domain.usage.last_nodes import LastNodes
from shared.domain.usage.usage_ledger import DeletedPool, UsageAmounts, UsageKind, UsageLedger
from shared.log import logger
from shared.stores.tables.rows import Row, bytes_columns, bytes_of
from shared.stores.tables.unreadable import NONSENSE

_LOG = logger(__name__)
_COLUMN = "usage"
_DAY = 24  # hours
_CLASSES: Mapping[str, BillingClass] = {name: name for name in CLASSES}


@dataclass(frozen=True, slots=True)
class PackedUsage:
    """A ledger with its JSON by hour, its compressed days, and the column that they make."""

    ledger: UsageLedger
    hours: Mapping[int, bytes] = field(repr=False)
    days: Mapping[int, bytes] = field(repr=False)
    column: Row = field(repr=False)


def packed_usage(ledger: UsageLedger, before: PackedUsage | None) -> PackedUsage:
    """Returns a packed ledger; hours and days that are those of the one `before` aren't packed again."""
    if before and before.ledger is ledger:
        return before
    known = before.ledger.hours if before else {}
    changed = [hour for hour, amounts in ledger.hours.items() if known.get(hour) is not amounts]
    texts = {hour: before.hours[hour] for hour in known if hour in ledger.hours} if before else {}
    texts |= {hour: _text(hour, ledger.hours[hour]) for hour in changed}
    kept = {hour // _DAY for hour in ledger.hours}
    days = {day: packed for day, packed in (before.days if before else {}).items() if day in kept}
    days |= {day: _packed_day(day, texts) for day in {hour // _DAY for hour in changed}}
    listed = [days[day] for day in sorted(days)]
    parts: list[object] = [ledger.since, ledger.as_of, dict(ledger.starts), listed]
    parts += [ledger.pool, ledger.last] if ledger.pool or ledger.last else []
    packed = msgspec.msgpack.encode(parts)
    return PackedUsage(ledger, texts, days, bytes_columns(_COLUMN, packed))


def _packed_day(day: int, texts: Mapping[int, bytes]) -> bytes:
    hours = [texts[hour] for hour in range(day * _DAY, (day + 1) * _DAY) if hour in texts]
    return zlib.compress(b"[" + b",".join(hours) + b"]", 1)


def usage_of(row: Row) -> UsageLedger | None:
    """Returns the ledger in a head; None where there is none, or a damaged one, which begins anew."""
    try:
        packed = bytes_of(row, _COLUMN)
        return _ledger(packed) if packed else None
    except NONSENSE as error:
        _LOG.warning("The usage ledger of %s begins anew: %s", row.get("RowKey"), error)
        return None


def _text(hour: int, amounts: UsageAmounts) -> bytes:
    """Returns an hour as JSON: by VM size the classes of dedicated nodes, and those of spot ones."""
    sizes: dict[str, tuple[dict[str, int], dict[str, int]]] = {}
    for kind, amount in amounts.items():
        sizes.setdefault(kind.vm_size, ({}, {}))[not kind.dedicated][kind.billing_class] = amount
    return orjson.dumps([hour, sizes])


def _ledger(packed: bytes) -> UsageLedger:
    since, as_of, starts, days, *later = msgspec.msgpack.decode(packed)
    hours = {hour: _amounts(sizes) for day in days for hour, sizes in orjson.loads(zlib.decompress(day))}
    pool, last = msgspec.convert([*later, None, None][:2], tuple[DeletedPool | None, LastNodes | None])
    return UsageLedger(int(since), int(as_of), hours, dict(starts), pool, last)


def _amounts(sizes: Mapping[str, Any]) -> UsageAmounts:
    """Returns the amounts of an hour; a class of a later version counts as `unknown`."""
    found: dict[UsageKind, int] = {}
    for vm_size, kinds in sizes.items():
        for number, classes in enumerate(kinds):
            for name, amount in classes.items():
                kind = UsageKind(_CLASSES.get(name, "unknown"), number == 0, vm_size)
                found[kind] = found.get(kind, 0) + amount
    return found
