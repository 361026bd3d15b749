"""Judges whether memory and tables stayed bounded over a soak. Pure: no clock, no network.

Memory is flat under two conditions. The median of the last quarter of an hour is within 15 % of that of the quarter
after the first half hour. The fitted line after that half hour rises by no more than 15 %. Tables are judged by the
bounds of their rows: see `LAWS`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import linear_regression, median

from local.prove.soak.watching import RowCount, TableLook

WARM_UP, QUARTER = 30.0, 15.0  # minutes
ALLOWED = 0.15  # of growth of memory
_ALLOWED_ROWS, _SLACK_ROWS = 0.25, 50
_SETTLED = 70.0  # minutes until replaced generations are deleted, which are kept for an hour
_SPAN = 25.0
_MIN_MINUTES = WARM_UP + 2 * QUARTER
_DONE = 0.8  # of the requested rates
_FAILED = 0.005  # of requests

type Series = Sequence[tuple[float, float]]


class RowBound(Enum):
    """The bound of a table's rows within the duration of a soak."""

    LIVING = "existing resources, and those deleted in the last half hour"
    HOURLY = "a row an hour and a row a day in each partition"
    POOL_HOURLY = "a row an hour and a row a day for each pool"
    WRITTEN = "blobs written: their retention is longer than the soak"


LAWS: Mapping[str, RowBound] = {
    **dict.fromkeys(
        ("accounts", "jobs", "tasks", "operations", "pools", "nodes", "jobschedules", "prices", "usage"),
        RowBound.LIVING,
    ),
    "jobhistory": RowBound.HOURLY,
    "poolhistory": RowBound.POOL_HOURLY,
    **dict.fromkeys(
        ("attempts", "blobs", "events", "rejects", "telemetry", "nodeindex", "pooltelemetry", "outputs"),
        RowBound.WRITTEN,
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One verdict: its figure, its bar, and whether it held; None if there was too little data."""

    name: str
    figure: str
    bar: str
    ok: bool | None


def judge_memory(host: str, series: Series) -> list[Finding]:
    """Judges memory; `series` are megabytes by minute."""
    end = series[-1][0] if series else 0.0
    name, bar = f"memory of {host}", f"within {ALLOWED:.0%} after {WARM_UP:g} min"
    if end < _MIN_MINUTES - 1:
        return [Finding(name, f"{series[-1][1]:.0f} MB" if series else "none", bar, ok=None)]
    first = median(value for minute, value in series if WARM_UP <= minute < WARM_UP + QUARTER)
    last = median(value for minute, value in series if minute >= end - QUARTER)
    after = [(minute, value) for minute, value in series if minute >= WARM_UP]
    slope = linear_regression(*zip(*after, strict=True)).slope
    grown, risen = last / first - 1, slope * (end - WARM_UP) / first
    figure, fitted = f"{first:.0f} MB, at the end {last:.0f} MB ({grown:+.0%})", f"{slope * 60:+.1f} MB an hour"
    return [
        Finding(name, figure, bar, ok=grown <= ALLOWED),
        Finding(f"{name}, fitted", f"{fitted} ({risen:+.0%})", f"at most {ALLOWED:+.0%}", ok=risen <= ALLOWED),
    ]


def judge_tables(looks: Sequence[TableLook]) -> Iterator[Finding]:
    """Judges every table that was found; a table without a law fails."""
    for table in sorted({name for look in looks for name in look.tables}):
        law = LAWS.get(table)
        series = [(look, look.tables.get(table, RowCount(0, 0))) for look in looks]
        figure = f"{series[-1][1].rows:,} rows"
        if law is None:
            yield Finding(f"table {table}", figure, "nobody says what bounds it", ok=False)
            continue
        ok, remark = _JUDGES[law](series)
        yield Finding(f"table {table}", f"{figure}{remark}", law.value, ok)


def judge_rates(name: str, done: int, wanted: float) -> Finding:
    """Judges whether approximately the requested amount was done."""
    return Finding(name, f"{done:,}", f"at least {_DONE:.0%} of {wanted:,.0f}", done >= _DONE * wanted)


def judge_failures(failed: int, asked: int, defects: int) -> list[Finding]:
    """Judges failed answers and `defects`, which counts lines of logs."""
    share = failed / asked if asked else 1.0
    figure = f"{failed:,} of {asked:,} ({share:.2%})"
    return [
        Finding("answers 5xx, or none", figure, f"at most {_FAILED:.1%}", ok=share <= _FAILED),
        Finding("defects in the hosts' logs", str(defects), "0", ok=defects == 0),
    ]


def defects_in(log: str) -> list[str]:
    """Returns the first lines of a host's log records that indicate a defect.

    A function that fails because of storage or Batch is none: it raises an error of the app, and the platform retries
    it.
    """
    records = re.split(r"^(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", log, flags=re.MULTILINE)
    return [record.splitlines()[0] for record in records if _is_defect(record)]


def _is_defect(record: str) -> bool:
    if re.search(r"\bbroke\b|was never retrieved", record):
        return True
    raised = re.findall(r"^[\w.]+(?=: |$)", record.partition("Traceback")[2], re.MULTILINE)
    return "Traceback" in record and not (raised and raised[-1].startswith("shared.errors."))


type _Rows = Sequence[tuple[TableLook, RowCount]]


def _living(series: _Rows) -> tuple[bool | None, str]:
    """The maximum in the last period isn't above the maximum before it."""
    end = series[-1][0].minute
    before = _most(rows for look, rows in series if end - 2 * _SPAN <= look.minute < end - _SPAN)
    last = _most(rows for look, rows in series if look.minute >= end - _SPAN)
    if end < _SETTLED + _SPAN:
        return None, ""
    return last <= before * (1 + _ALLOWED_ROWS) + _SLACK_ROWS, f", at most {last:,}, before {before:,}"


def _hourly(series: _Rows, *, things: int = 1) -> tuple[bool | None, str]:
    """One hour and one day more than have passed may be touched, and each once more by its first row."""
    look, rows = series[-1]
    return rows.largest <= 2 * things * (look.minute / 60 + 2), f", at most {rows.largest} in a partition"


def _pool_hourly(series: _Rows) -> tuple[bool | None, str]:
    """A partition holds all pools of an account."""
    return _hourly(series, things=series[-1][0].tables.get("pools", RowCount(0, 0)).largest)


def _written(series: _Rows) -> tuple[bool | None, str]:
    """Rows per blob in the second half don't exceed those of the first half."""
    end = series[-1][0].minute
    if end < _MIN_MINUTES - 5:
        return None, ""
    middle = min(series, key=lambda one: abs(one[0].minute - (WARM_UP + end) / 2))
    begin = min(series, key=lambda one: abs(one[0].minute - WARM_UP))
    first, second = _a_blob(begin, middle), _a_blob(middle, series[-1])
    slack = _SLACK_ROWS / max(1, series[-1][0].blobs - middle[0].blobs)
    return second <= first * (1 + _ALLOWED_ROWS) + slack, f", {first:.2f} and then {second:.2f} a blob"


def _a_blob(begin: tuple[TableLook, RowCount], end: tuple[TableLook, RowCount]) -> float:
    return (end[1].rows - begin[1].rows) / max(1, end[0].blobs - begin[0].blobs)


def _most(counts: Iterable[RowCount]) -> int:
    return max((count.rows for count in counts), default=0)


_JUDGES = {
    RowBound.LIVING: _living,
    RowBound.HOURLY: _hourly,
    RowBound.POOL_HOURLY: _pool_hourly,
    RowBound.WRITTEN: _written,
}
