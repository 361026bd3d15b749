"""Compares the events in blobs with those that the app lists: each is in the feed exactly once. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from local.prove.agent.judging.members import blob_name, members_of
from local.prove.agent.judging.sessions import StoredBlob

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EVENT, _KIND, _PREFIX = "batchscope_event,", "kind=", "node."


class Event(NamedTuple):
    """An event by its node, its kind in the feed, and its time in microseconds since 1970."""

    node: str
    kind: str
    time: int


def written_events(blobs: Iterable[StoredBlob]) -> list[Event]:
    """Returns the events in the records of blobs, whose names say the node. Raises DamageError."""
    return [
        _event(name.node, line)
        for blob in blobs
        if (name := blob_name(blob.path))
        for member in members_of(blob.content)
        for line in member.lines
        if line.startswith(_EVENT)
    ]


def listed_events(page: Iterable[Mapping[str, Any]]) -> list[Event]:
    """Returns the events of nodes in a list of the API."""
    return [
        Event(one["nodeId"], one["kind"], (datetime.fromisoformat(one["time"]) - _EPOCH) // timedelta(microseconds=1))
        for one in page
        if one["kind"].startswith(_PREFIX)
    ]


def judge_feed(written: Iterable[Event], listed: Iterable[Event]) -> list[str]:
    """Returns a sentence for each event that is missing in the feed, there twice, or that nobody wrote."""
    expected, found = set(written), Counter(listed)
    wrong = [f"{event.node}: {event.kind} isn't in the feed" for event in sorted(expected - found.keys())]
    wrong += [
        f"{event.node}: {event.kind} is in the feed, but no agent wrote it" for event in sorted(found.keys() - expected)
    ]
    return wrong + [
        f"{event.node}: {event.kind} is {number} times in the feed" for event, number in found.items() if number > 1
    ]


def _event(node: str, line: str) -> Event:
    tags, _, rest = line.partition(" ")
    kind = next((tag.removeprefix(_KIND) for tag in tags.split(",") if tag.startswith(_KIND)), "")
    return Event(node, _PREFIX + kind, int(rest.rpartition(" ")[2]) // 1000)
