"""Batch decoding of similar JSON records: half the cost of single records is creating their parts.

A batch repeats the same names, tags and field names. So records are grouped by these as written, and the fields of a
group are decoded together, without names. Anything else, including mistakes, is left to `json_metrics.py`, the
reference implementation. Both return the same records, except for the order of records in different groups. A batch
with startup records, whose order matters, is therefore left to it, too.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import msgspec

from shared.domain.telemetry.catalog.catalog import is_mapped_by_names
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.records.precision import Precision
from shared.domain.telemetry.records.startup_records import ONCE

_MARK = ONCE.encode()
_MAX_LAYOUTS, _MAX_FIELDS = 64, 128  # per line, and per layout
_MAX_HEADS = 4096
_MAX_LENGTH = 4096  # characters of a layout's names, and bytes of the tags, as both are cached
_MIN_ALIKE = 2  # records per group on average; fewer aren't worth it


@dataclass(slots=True)
class Bundle:
    """Records of a name, tags and fields; `values` holds all fields of the first, then of the second, and so on.

    `times` are in nanoseconds since 1970, in the order of the records. `head` is the same object for all bundles of a
    stream with the same name, tags and field names; None where further properties distinguish the records' shape.
    """

    name: str
    tags: dict[str, str]
    names: tuple[str, ...]
    times: list[int]
    values: list[Value]
    head: object = None

    def __len__(self) -> int:
        return len(self.times)

    def metrics(self) -> Iterator[Metric]:
        """Yields the records one by one."""
        width = len(self.names)
        for number, time in enumerate(self.times):
            values = self.values[number * width : (number + 1) * width]
            yield Metric(self.name, self.tags, dict(zip(self.names, values, strict=True)), time)


class _Record(msgspec.Struct, gc=False):
    name: str
    tags: msgspec.Raw
    fields: msgspec.Raw
    timestamp: int


class _Batch(msgspec.Struct, gc=False):
    metrics: list[_Record]


@dataclass(slots=True, eq=False)
class _Alike:
    """Records of a name and tags, and while records are grouped, the group whose record followed the last of them."""

    name: str
    tags: msgspec.Raw
    next: "_Alike | None" = None
    fields: list[msgspec.Raw] = field(default_factory=list)
    times: list[int] = field(default_factory=list)


class _Head(NamedTuple):
    """The common part of all records with a name and tags so far.

    Records stand `by_itself` where name, tags and field names don't determine their shape.
    """

    tags: dict[str, str]
    names: tuple[str, ...]
    decoder: Any
    by_itself: bool


type _Key = tuple[str, bytes]
_BATCH = msgspec.json.Decoder(_Batch)
_TAGS = msgspec.json.Decoder(dict[str, str])
_FIELDS = msgspec.json.Decoder(dict[str, bool | int | float | str])


class BundleReader:
    """A reader of one stream's lines; it caches field names, which recur in the next line."""

    __slots__ = ("_heads", "_precision")

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self._heads: dict[_Key, _Head] = {}

    def read(self, line: bytes) -> list[Bundle] | None:
        """Returns all records of a line, or None where they must be read one by one."""
        try:
            records = _BATCH.decode(line).metrics
            groups = _grouped(records)
            if not groups or len(groups) * _MIN_ALIKE > len(records):
                return None
            return self._bundles(groups, records[0].timestamp)
        except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, too
            return None

    def _bundles(self, groups: dict[_Key, _Alike], first: int) -> list[Bundle]:
        """Raises ValueError for invalid records, or too many layouts."""
        factor, span = self._precision.factor_between(first)
        heads = self._heads_of(groups)
        usual = _read_usual(groups, heads)
        found, layouts = [], set[tuple[str, ...]]()
        for key, alike in groups.items():
            head = heads[key]
            parts = [(head.names, alike, usual[key])] if key in usual else _read_apart(head, alike)
            for names, some, values in parts:
                layouts.add(names)
                if len(layouts) > _MAX_LAYOUTS or not (min(some.times) in span and max(some.times) in span):
                    raise ValueError("too many layouts, or times of several precisions")
                same = head if names is head.names else None
                found.append(Bundle(key[0], head.tags, names, [time * factor for time in some.times], values, same))
        return found

    def _heads_of(self, groups: dict[_Key, _Alike]) -> dict[_Key, _Head]:
        """Raises ValueError before there are too many layouts, as each needs a new decoder."""
        found, layouts = dict[_Key, _Head](), set[tuple[str, ...]]()
        for key, alike in groups.items():
            head = found[key] = self._heads.get(key) or self._head(key, alike.fields[0])
            layouts.add(head.names)
            if len(layouts) > _MAX_LAYOUTS:
                raise ValueError("too many layouts")
        return found

    def _head(self, key: _Key, fields: msgspec.Raw) -> _Head:
        """Raises ValueError where names are too long to cache, or for startup records."""
        name, written = key
        if len(name) + len(written) > _MAX_LENGTH or _MARK in written:
            raise ValueError("too long names, or startup records")
        tags, names = _TAGS.decode(written), tuple(_FIELDS.decode(fields))
        head = _Head(tags, names, _decoder_of(names), not is_mapped_by_names(name, tags))
        if len(self._heads) >= _MAX_HEADS:
            self._heads.clear()
        self._heads[key] = head
        return head


def _grouped(records: list[_Record]) -> dict[_Key, _Alike]:
    """Groups records by name and tags as written. Agents write in cycles, so a record mostly has the same successor."""
    found: dict[_Key, _Alike] = {}
    before, turn = None, None
    for record in records:
        name, tags = record.name, record.tags
        if turn is None or turn.tags != tags or turn.name != name:
            key = name, bytes(tags)
            turn = found.get(key)
            if turn is None:
                turn = found[key] = _Alike(name, tags)
            if before:
                before.next = turn
        turn.fields.append(record.fields)
        turn.times.append(record.timestamp)
        before, turn = turn, turn.next
    for turn in found.values():
        turn.next = None  # breaks reference cycles, which would keep the line in memory
    return found


def _read_usual(groups: dict[_Key, _Alike], heads: dict[_Key, _Head]) -> dict[_Key, list[Value]]:
    """Returns the values of groups with exactly the usual fields; groups with equal fields are decoded together."""
    by_names = defaultdict[tuple[str, ...], list[_Key]](list)
    for key, head in heads.items():
        if not head.by_itself:
            by_names[head.names].append(key)
    found: dict[_Key, list[Value]] = {}
    for names, keys in by_names.items():
        with suppress(msgspec.ValidationError):
            values = _values(heads[keys[0]].decoder, [fields for key in keys for fields in groups[key].fields])
            ends = accumulate((len(groups[key].fields) * len(names) for key in keys), initial=0)
            found.update((key, values[at:end]) for key, (at, end) in zip(keys, pairwise(ends), strict=True))
    return found


def _read_apart(head: _Head, alike: _Alike) -> Iterator[tuple[tuple[str, ...], _Alike, list[Value]]]:
    """Yields records with the usual fields as one part; otherwise one part for each set of fields."""
    if not head.by_itself:
        try:
            values = _values(head.decoder, alike.fields)
        except msgspec.ValidationError:
            pass
        else:
            yield head.names, alike, values
            return
    for (names, _), own in _grouped_by_fields(alike, by_itself=head.by_itself).items():
        yield names, own, _values(_decoder_of(names), own.fields)


def _grouped_by_fields(alike: _Alike, *, by_itself: bool) -> dict[tuple[tuple[str, ...], int], _Alike]:
    """Groups records by field names, or keeps each one separate (`by_itself`)."""
    found: dict[tuple[tuple[str, ...], int], _Alike] = {}
    for fields, time in zip(alike.fields, alike.times, strict=True):
        key = tuple(_FIELDS.decode(fields)), len(found) if by_itself else 0
        some = found.setdefault(key, _Alike(alike.name, alike.tags))
        some.fields.append(fields)
        some.times.append(time)
    return found


def _values(decoder: Any, fields: list[msgspec.Raw]) -> list[Value]:
    rows = decoder.decode(b"[" + b",".join(fields) + b"]")
    return list(chain.from_iterable(map(msgspec.structs.astuple, rows)))


def _decoder_of(names: tuple[str, ...]) -> Any:
    """Returns a decoder for objects with exactly these fields. Raises ValueError for too many or too long names."""
    if len(names) > _MAX_FIELDS or sum(map(len, names)) > _MAX_LENGTH:
        raise ValueError("too many fields, or too long names")
    return _known_decoder(names)


@lru_cache(maxsize=256)
def _known_decoder(names: tuple[str, ...]) -> Any:
    places = [f"f{place}" for place in range(len(names))]
    kind = msgspec.defstruct(
        "Fields",
        [(place, bool | int | float | str) for place in places],
        rename=dict(zip(places, names, strict=True)),
        forbid_unknown_fields=True,
        gc=False,
    )
    return msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]  # made just now
