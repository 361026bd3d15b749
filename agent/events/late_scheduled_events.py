"""Scheduled Events where the metadata service didn't answer at the agent's start: it is asked again later."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agent.collectors.collector import Collector, UnsupportedError
from agent.machine.clock import Clock
from agent.records.record import Record

PAUSE = 300.0
"""Seconds between requests for the instance."""


class LateScheduledEvents:
    """Becomes the collector that `build` returns; that raises UnsupportedError where there is none, else tries again.

    The first try is one pause after the start.
    """

    name = "scheduled_events"
    interval = 10.0

    def __init__(self, build: Callable[[], Collector], clock: Clock) -> None:
        self._build = build
        self._clock = clock
        self._built: Collector | None = None
        self._is_over = False
        self._due = clock.monotonic() + PAUSE

    def collect(self, now: int) -> Iterable[Record]:
        """Returns the records of the built collector; none until it is built."""
        if self._built is None and not self._is_over and self._clock.monotonic() >= self._due:
            self._due = self._clock.monotonic() + PAUSE
            self._built = self._tried()
        return self._built.collect(now) if self._built else []

    def _tried(self) -> Collector | None:
        try:
            return self._build()
        except UnsupportedError:
            self._is_over = True
        except Exception:  # of the network, the service or its answer
            return None
        return None
