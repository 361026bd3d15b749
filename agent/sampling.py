"""The agent's loop: calls each collector when it is due, and hands their lines on at each flush.

A collector that fails costs its own records only; failures are counted and the first of each kind is logged. Times of
calls follow the monotonic clock, so a clock that is set neither floods nor silences a node. An event is flushed at
once: the node may not live until the next flush, as after a Spot notice, which waits for no other event's pause either.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from agent.collectors.collector import Collector
from agent.events.event import MEASUREMENT as EVENT
from agent.events.scheduled_events import MAINTENANCE, SPOT
from agent.machine.clock import Clock
from agent.records.line_protocol import line_of
from agent.records.record import Record, Value

MAX_TEXT = 4 << 20
"""Characters of lines after which they are flushed early."""
EVENT_PAUSE = 60.0
"""Seconds between two flushes at once for events, so that many of them don't multiply requests."""
URGENT = (SPOT, MAINTENANCE)
"""Kinds of events that wait for no pause: the node may be gone by then. Each announcement is an event once."""
AGENT = "batchscope_agent"
_MAX_LOGGED = 100  # kinds of failures


class Sink(Protocol):
    """Takes whole lines at a flush, and describes how they fare."""

    def put(self, lines: bytes, records: int) -> None: ...

    def fields(self) -> Mapping[str, Value]: ...


class _Turn(NamedTuple):
    """When a collector is due next, in seconds of the monotonic clock."""

    due: float
    collector: Collector


class Sampler:
    """Samples a node. `flush` is in seconds; `phase`, from 0 to 1, spreads the flushes of a pool's nodes.

    `flushed` is called after each flush that the sink took.
    """

    def __init__(
        self,
        collectors: Iterable[Collector],
        sink: Sink,
        clock: Clock,
        *,
        flush: float,
        phase: float,
        log: Callable[[str], None],
        flushed: Callable[[], None] = lambda: None,
    ) -> None:
        now = clock.monotonic()
        self._turns: list[_Turn] = [_Turn(now, collector) for collector in collectors]
        self._sink = sink
        self._clock = clock
        self._flush = flush
        self._flush_due = now + flush * (0.1 + 0.9 * phase)
        self._event_due = now
        self._has_event = self._has_urgent = False
        self._lines: list[str] = []
        self._size = 0
        self._errors = 0
        self._logged: set[str] = set()
        self._log = log
        self._flushed = flushed

    def add(self, records: Iterable[Record]) -> None:
        """Takes records from elsewhere, with the time of now where they have none."""
        now = self._clock.now()
        for record in records:
            line = line_of(record, now)
            if line:
                self._lines.append(line)
                self._size += len(line)
                is_event = record.measurement == EVENT
                self._has_event = self._has_event or is_event
                self._has_urgent = self._has_urgent or (is_event and record.tags.get("kind") in URGENT)

    def step(self) -> float:
        """Calls the collectors that are due and flushes if it is time; returns seconds until the next step."""
        now = self._clock.monotonic()
        self._turns = [self._called(turn, now) if turn.due <= now else turn for turn in self._turns]
        if now >= self._flush_due or self._size >= MAX_TEXT:
            self._flush_due = _next(self._flush_due, self._flush, now)
            self.flush()
        elif self._has_urgent or (self._has_event and now >= self._event_due):
            self._event_due = now + EVENT_PAUSE
            self.flush()
        upcoming = min([self._flush_due, *(turn.due for turn in self._turns)])
        return max(upcoming - self._clock.monotonic(), 0.0)

    def flush(self) -> None:
        """Hands all lines on, with the agent's own state as the last of them."""
        self.add([Record(AGENT, {**_own_use(), "collect_errors": self._errors, **self._sink.fields()})])
        lines, self._lines, self._size = self._lines, [], 0
        self._has_event = self._has_urgent = False
        self._sink.put("".join(lines).encode("utf-8", "replace"), len(lines))
        self._flushed()

    def _called(self, turn: _Turn, now: float) -> _Turn:
        try:
            self.add(turn.collector.collect(self._clock.now()))
        except Exception as error:  # one collector's defect or a garbled file must not end the others
            self._failed(turn.collector.name, error)
        return _Turn(_next(turn.due, turn.collector.interval, now), turn.collector)

    def _failed(self, name: str, error: Exception) -> None:
        self._errors += 1
        kind = f"{name}: {type(error).__name__}"
        if kind not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(kind)
            self._log(f"The collector {kind}: {error}")


def _next(due: float, interval: float, now: float) -> float:
    """Returns the next of the times that are `interval` apart and lie after `now`; missed ones are left out."""
    return due + interval * (int((now - due) // interval) + 1)


def _own_use() -> Mapping[str, Value]:
    """Returns the agent's own use so far: CPU in seconds, and its peak memory in bytes."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu_seconds": used.ru_utime + used.ru_stime, "memory_peak": used.ru_maxrss * 1024}
