"""The head of a generation: its counts and failure groups as of T0, summed from its leaves and written after them.

A leaf's summary is stored beside its counts. If a leaf of an older version has none, the sum is omitted, as it wouldn't
cover all tasks.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

import orjson

from shared.domain.leaves.leaf_summaries import Summary, remembered
from shared.domain.packing.columns import DAMAGE
from shared.domain.tasks.failures import Failures
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts
from shared.stores.tables.rows import Row, json_columns, json_of, row_of

HEAD = "!"
ORIGIN_BYTES = 8
_MAX_BYTES = 400_000  # of an entity's 1 MiB, which counts base64 in Azurite
_FORM = 1


@dataclass(frozen=True, slots=True)
class Head:
    """The date, counts and failures of a generation; `failures` is None if they are unknown."""

    as_of: datetime
    counts: TaskCounts
    failures: Failures | None


def head_row(partition: str, head: Head, *, leaves: int) -> Row:
    columns: Row = {
        "asOf": head.as_of,
        "leaves": leaves,
        **{field: getattr(head.counts, field) for field in COUNT_FIELDS},
    }
    if head.failures:
        failures = head.failures.capped().fitting(lambda failures: len(orjson.dumps(failures.plain())) <= _MAX_BYTES)
        columns |= json_columns("failures", [_FORM, *failures.plain()])
    return row_of(partition, HEAD, columns)


def head_of(row: Row) -> Head:
    """Returns the head in a row; damaged failures, or those of an unknown format, count as unknown."""
    failures = None
    with suppress(*DAMAGE):
        form, *groups = json_of(row, "failures") or (None,)
        failures = Failures.of_plain(groups) if form == _FORM else None
    return Head(row["asOf"], TaskCounts(*(row[field] for field in COUNT_FIELDS)), failures)


def origin_of(summaries: Iterable[tuple[str, bytes | None]]) -> bytes | None:
    """Returns a digest of summaries and their leaves' rows; None if a summary is missing."""
    digest = blake2b(digest_size=ORIGIN_BYTES)
    for row, summary in summaries:
        if summary is None:
            return None
        digest.update(b"%d.%d." % (len(row), len(summary)) + row.encode() + summary)
    return digest.digest()


def sum_of(summaries: Iterable[bytes | None]) -> Summary | None:
    """Returns the sum of stored summaries; None if one is missing, damaged, or of an unknown format."""
    found: list[Summary] = []
    for stored in summaries:
        summary = None if stored is None else remembered(stored)
        if summary is None:
            return None
        found.append(summary)
    return Summary.summed(found)
