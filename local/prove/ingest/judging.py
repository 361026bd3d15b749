"""Compares the API with the written data. Pure: no clock, no network.

How far a re-created blob had been read is unknown. The ingested part of its earlier life must be its first units,
exactly, however many. Everything else must be there once.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from local.prove.ingest.book import BlobLife, WrittenData
from local.prove.ingest.truth import Key, Minute, Truth, shown_of, totals_of, truth_of, values_in

_CLOSE = 1e-12  # relative: sums of fractions depend on their order
_FIELDS = ("count", "min", "max", "sum", "last")
_NOTHING = ("withoutTime", "outOfWindow", "ofTooManyNodes", "ofTooManyTasks", "beyondLimit", "late", "noNumbers")
_MAX_TOLD = 3  # differences per kind that are reported

type Shown = dict[Key, dict[int, Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The number of compared minutes, events or numbers, the problems, and the number of units not read in time.

    `bytes_counted` is the number of telemetry bytes in the totals.
    """

    compared: int
    wrong: tuple[str, ...]
    unread: int = 0
    bytes_counted: int = 0


def shown_series(answer: Mapping[str, Any]) -> Shown:
    """Returns the series of an answer of the API, by minute since 1970."""
    return {
        (one["name"], tuple(sorted(one["attributes"].items()))): {
            int(datetime.fromisoformat(point["time"]).timestamp()) // 60: point for point in one["points"]
        }
        for one in answer["value"]
    }


def judge_node(node: str, answer: Mapping[str, Any], book: WrittenData) -> Verdict:
    """Compares a node's telemetry with the written data."""
    shown = shown_series(answer)
    lives = [(life, _units_read(life, shown)) for life in book.lives if node in life.nodes]
    truth = truth_of(node, lives)
    series = shown_of(truth)
    wrong = [f"{node}: {text}" for text in (*_differences(shown, series), *_miscounted(answer["leftOut"], truth))]
    unread = sum(len(life.units) - units for life, units in lives)
    return Verdict(sum(map(len, series.values())), tuple(wrong), unread)


def judge_rejects(rejects: Iterable[Mapping[str, Any]], book: WrittenData) -> Verdict:
    """Checks that every unreadable unit is listed by its position, and nothing else."""
    true = Counter(
        [*book.bad_lines, *((life.blob, unit.start) for life in book.lives for unit in life.units if unit.is_bad)]
    )
    listed = Counter((one["blob"], one["offset"]) for one in rejects)
    wrong = [f"refused, but not listed {number} times: {place}" for place, number in (true - listed).items()]
    wrong += [f"listed {number} times too often: {place}" for place, number in (listed - true).items()]
    return Verdict(true.total(), tuple(wrong))


def judge_events(events: Sequence[Mapping[str, Any]], book: WrittenData) -> Verdict:
    """Checks that every event is listed once, with the content of one delivery."""
    listed = Counter((one["kind"], one["jobId"], one["taskId"]) for one in events)
    wrong = [f"the event {key} isn't there" for key in book.happenings.keys() - listed.keys()]
    wrong += [f"the event {key} is there {number} times" for key, number in listed.items() if number > 1]
    for one in events:
        key = (one["kind"], one["jobId"], one["taskId"])
        if key not in book.happenings:
            wrong.append(f"nobody logged the event {key}")
        elif one["properties"] != book.happenings[key].properties:
            wrong.append(f"the event {key} has other properties: {one['properties']}")
        elif not any(_same_time(one["time"], time) for time in book.logged[key]):
            wrong.append(f"the event {key} was logged at other times than {one['time']}")
    return Verdict(len(book.happenings), tuple(wrong))


def judge_totals(answer: Mapping[str, Any], book: WrittenData, *, killed: bool) -> Verdict:
    """Checks the account's totals of logs and telemetry.

    A `killed` host may lose telemetry counts not stored so far, so totals may be lower, but never higher.
    """
    true = {
        "records": book.deliveries + len(book.bad_lines),
        "events": len(book.happenings),
        "repeats": book.deliveries - len(book.happenings),
        "refused": len(book.bad_lines),
        "bytes": sum(book.log_sizes.values()),
        "behindBytes": 0,
    }
    wrong = [
        f"{name} of logs: {answer[name]}, in truth {value}" for name, value in true.items() if answer[name] != value
    ]
    telemetry = answer["telemetry"]
    if telemetry is None:
        return Verdict(len(true), (*wrong, *answer["problems"], "nothing is told of telemetry"))
    most, least = totals_of(book.lives), totals_of(life for life in book.lives if not life.is_over)
    for name, value in most.items():
        if not (0 if killed else least[name]) <= telemetry[name] <= value:
            wrong.append(f"{name} of telemetry: {telemetry[name]}, in truth {value}")
    if telemetry["behindBytes"]:
        wrong.append(f"behindBytes of telemetry: {telemetry['behindBytes']}, in truth 0")
    problems = (*answer["problems"], *telemetry["problems"])
    return Verdict(len(true) + len(most) + 1, (*wrong, *problems), bytes_counted=telemetry["bytes"])


def _units_read(life: BlobLife, shown: Shown) -> int:
    """Returns the units read: all of a blob's present life; of an earlier life by the count of CPU samples."""
    if not life.is_over:
        return len(life.units)
    key = ("system.cpu.utilization", (("cpu.logical_number", str(life.number)), ("cpu.mode", "user")))
    left = sum(point["count"] for point in shown.get(key, {}).values())
    for number, unit in enumerate(life.units):
        if left <= 0:
            return number
        left -= values_in(unit, key)
    return len(life.units)


def _differences(shown: Shown, true: Mapping[Key, Mapping[int, Minute]]) -> Iterable[str]:
    for key in sorted(shown.keys() | true.keys()):
        ours, theirs = shown.get(key, {}), true.get(key, {})
        wrong = [minute for minute in ours.keys() | theirs.keys() if not _is_same(ours.get(minute), theirs.get(minute))]
        for minute in sorted(wrong)[:_MAX_TOLD]:
            yield f"{key} at {minute}: {ours.get(minute)}, in truth {theirs.get(minute)} ({len(wrong)} such minutes)"


def _is_same(point: Mapping[str, Any] | None, minute: Minute | None) -> bool:
    if point is None or minute is None or point["count"] != minute.count:
        return False
    return all(math.isclose(point[name], getattr(minute, name), rel_tol=_CLOSE) for name in _FIELDS)


def _miscounted(said: Mapping[str, Any], truth: Truth) -> Iterable[str]:
    true = {"records": truth.records, "refused": truth.refused, "unreadFields": truth.unread,
            "unknown": dict(truth.unknown), **dict.fromkeys(_NOTHING, 0)}  # fmt: skip
    return [f"{name}: {said[name]}, in truth {value}" for name, value in true.items() if said[name] != value]


def _same_time(one: str, other: str) -> bool:
    return datetime.fromisoformat(one) == datetime.fromisoformat(other)
