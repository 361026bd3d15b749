"""Collector of Spot notices and maintenance that Azure announces as Scheduled Events: best effort.

Batch mostly powers a Spot node off before it hears of it, so nothing may rest on these notices.
"""

from __future__ import annotations

import contextlib
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

from agent.collectors.collector import UnsupportedError
from agent.events.event import event
from agent.events.state import load_moments, save_moments
from agent.machine.clock import Clock
from agent.records.record import Record, Value

SPOT, MAINTENANCE = "spot_preemption", "maintenance"
MAX_EVENTS = 256
MAX_PAUSE = 300.0
"""Seconds between requests at most, where the service doesn't answer."""
_MEANINGS = {
    "Preempt": "takes this Spot node back", "Reboot": "will restart this node", "Terminate": "will delete this node",
    "Redeploy": "will move this node and delete its local disks", "Freeze": "will pause this node for some seconds",
}  # fmt: skip
_TEXT = re.compile(r"[\w ,:.+\-]{1,64}")


class ScheduledEvents:
    """Asks every 10 s, and less often while there is no answer; only on Spot nodes, unless `is_spot` says otherwise.

    The first request enables Scheduled Events for the VM, which delays restarts that a user asks for by up to 15
    minutes; hence other nodes aren't asked. `document` returns the service's document, or raises any error. `resource`
    is the VM's name: neighbours in a scale set see each other's events. Empty means that all events count. `path` is a
    file for the times at which events were seen first: an agent that starts meanwhile reports them again with these, so
    that the records are equal and count once. Without a path nothing is saved.
    """

    name = "scheduled_events"
    interval = 10.0

    def __init__(
        self,
        document: Callable[[], Mapping[str, object]],
        clock: Clock,
        *,
        is_spot: bool,
        resource: str = "",
        path: str = "",
    ) -> None:
        if not is_spot:
            raise UnsupportedError("This is no Spot node, so it isn't asked for Scheduled Events.")
        self._document = document
        self._clock = clock
        self._resource = resource
        self._known: OrderedDict[str, None] = OrderedDict()
        self._path = path
        self._first_seen = load_moments(path) if path else {}
        self._pause, self._due = 0.0, clock.monotonic()

    def collect(self, now: int) -> Iterable[Record]:
        """Yields an event for each announcement that is new."""
        for found in self._events():
            identity = str(found.get("EventId", ""))[:64]
            if identity and identity not in self._known and self._concerns(found.get("Resources")):
                self._known[identity] = None
                while len(self._known) > MAX_EVENTS:
                    self._known.popitem(last=False)
                yield _event(identity, found, self._time_of(identity, now))

    def _time_of(self, identity: str, now: int) -> int:
        """Returns when an event was seen first, by this agent or an earlier one."""
        if identity not in self._first_seen:
            self._first_seen[identity] = now
            if self._path:
                with contextlib.suppress(OSError):  # a full disk: the event matters more
                    save_moments(self._path, self._first_seen)
        return self._first_seen[identity]

    def _events(self) -> Iterable[Mapping[str, object]]:
        """Returns the events of the document; none while the service is left alone after a failure."""
        if self._clock.monotonic() < self._due:
            return []
        try:
            listed = self._document().get("Events")
        except Exception:  # of the network, the service or its answer: it is asked again later
            self._pause = min(max(self._pause * 2, 2 * self.interval), MAX_PAUSE)
            self._due = self._clock.monotonic() + self._pause
            return []
        self._pause = 0.0
        return [found for found in _listed(listed) if isinstance(found, dict)][:MAX_EVENTS]

    def _concerns(self, resources: object) -> bool:
        return not self._resource or not isinstance(resources, list) or self._resource in resources


def _event(identity: str, found: Mapping[str, object], time: int) -> Record:
    """Returns the record; fields: `event_id`, `event_type`, `status`, `not_before`, `source`, `duration_seconds`."""
    kind = _text(found.get("EventType"))
    start = _text(found.get("NotBefore"))
    fields: dict[str, Value] = {
        "event_id": _text(identity),
        "event_type": kind,
        "status": _text(found.get("EventStatus")),
        "not_before": start,
        "source": _text(found.get("EventSource")),
    }
    seconds = found.get("DurationInSeconds")
    if isinstance(seconds, int) and seconds >= 0:
        fields["duration_seconds"] = seconds
    message = (
        f"Azure {_MEANINGS.get(kind, 'announces maintenance of this node')}{f', not before {start}' if start else ''}."
    )
    shown = {name: value for name, value in fields.items() if value != ""}
    return event(SPOT if kind == "Preempt" else MAINTENANCE, message, shown, time=time)


def _listed(found: object) -> list[object]:
    return found if isinstance(found, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) and _TEXT.fullmatch(value) else ""
