"""All answers of the API that come only from storage, and the differences between those of two hosts.

Verdicts and estimates depend on the time of the request, so only the as-of of verdicts is compared.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

type Get = Callable[[str], Any]
type Answers = dict[str, Any]
_OF_THE_HOST = frozenset({"level", "reason", "secondsInState", "estimate", "nextLink", "endpoint"})
_SAID_OTHERWISE = frozenset({"summary", "last5Minutes", "last15Minutes", "lastHour"})
"""Fields whose texts or sums changed after 0.1.0, according to the changelog."""
_OF_SCHEDULES = frozenset({"until", "since", "basis", "exact", "asOf", "checkedAt"})
"""Fields of schedules that count as of their writing, until the next poll, if 0.1.0 wrote them."""
_OF_LOGS = (".records", ".repeats", ".bytes")
STARTUP = "/startup?days=31"
_PAGE = 200
_NODES, _JOBS = 3, 1000


def recorded(get: Get, account: str, until: datetime) -> Answers:
    """Returns answers by path (without the host); `until` ends all histories."""
    found: Answers = {}
    for path in _paths(found, f"/accounts/{quote(account)}", until):
        found[path] = get(path)
    return found


def _paths(found: Answers, account: str, until: datetime) -> Iterator[str]:
    span = urlencode({"from": (until - timedelta(days=1)).isoformat(), "to": until.isoformat()})
    yield "/accounts"
    yield account
    for kind in ("monitoring", "ingestion"):
        yield f"{account}/{kind}"
    for kind in ("events", "rejects", "jobschedules", "jobs", "pools"):
        yield f"{account}/{kind}?maxpagesize={_PAGE}"
    yield "/retirements"
    yield f"{account}/events?kind=pool.settings_change&maxpagesize={_PAGE}"
    for job in _ids(found[f"{account}/jobs?maxpagesize={_PAGE}"])[:_JOBS]:
        yield f"{account}/jobs/{job}"
        yield f"{account}/jobs/{job}/history?{span}"
        for kind in ("tasks", "timeline", "failures"):
            yield f"{account}/jobs/{job}/{kind}"
    for schedule in _ids(found[f"{account}/jobschedules?maxpagesize={_PAGE}"]):
        yield f"{account}/jobschedules/{schedule}"
    for pool in _ids(found[f"{account}/pools?maxpagesize={_PAGE}"]):
        yield f"{account}/pools/{pool}"
        yield f"{account}/pools/{pool}/history?{span}"
        yield f"{account}/pools/{pool}{STARTUP}"
        for kind in ("nodes", "nodestates", "autoscaleruns"):
            yield f"{account}/pools/{pool}/{kind}"
        for node in _ids(found[f"{account}/pools/{pool}/nodes"])[:_NODES]:
            yield f"{account}/pools/{pool}/nodes/{node}/telemetry?{span}"


def _ids(answer: Any) -> list[str]:
    return [quote(entry["id"]) for entry in answer["value"]]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs between two hosts; `place` is its position in the answer to `path`."""

    path: str
    place: str
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The field's name, without indexes of list entries."""
        return re.sub(r"\[\d+\]", "", self.place).rpartition(".")[2]

    def __str__(self) -> str:
        return f"{self.path}: {self.place} was {str(self.before)[:200]}, is {str(self.after)[:200]}"


def differences(before: Answers, after: Answers) -> list[Difference]:
    """Returns fields that differ on both hosts, and answers that only the first has."""
    found = [
        Difference(path, place, *values)
        for path in sorted(before)
        for place, *values in _differences(before[path], after.get(path), "")
    ]
    return [one for one in found if not _came_in_meanwhile(one, before[one.path], after.get(one.path))]


def _came_in_meanwhile(one: Difference, before: Any, after: Any) -> bool:
    """Returns True for amounts of ingestion that grew: a host that doesn't poll also ingests announced blobs.

    These are amounts of telemetry, and of a log in which nothing but repeats came, which it writes in a pause, too.
    """
    if not (one.path.endswith("/ingestion") and isinstance(one.before, int) and isinstance(one.after, int)):
        return False
    is_amount = one.place.startswith(".telemetry.") or (one.place in _OF_LOGS and _only_repeats(before, after))
    return is_amount and one.before < one.after


def _only_repeats(before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    records, repeats = (after[name] - before[name] for name in ("records", "repeats"))
    return records == repeats


def is_on_purpose(one: Difference) -> bool:
    """Returns whether 0.2.0 intentionally shows a field of the same rows differently from 0.1.0."""
    return one.field in _SAID_OTHERWISE or ("/jobschedules" in one.path and one.field in _OF_SCHEDULES)


def by_field(found: Sequence[Difference]) -> str:
    """Returns the number of differences by field, as in `asOf 3, reason 1`."""
    return ", ".join(f"{name} {number}" for name, number in Counter(one.field for one in found).most_common())


def _differences(before: Any, after: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name, value in before.items():
            if name not in _OF_THE_HOST and name in after:
                yield from _differences(value, after[name], f"{place}.{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{place}[{number}]")
    elif before != after:
        yield place, before, after
