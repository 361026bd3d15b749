"""The protocol of collectors, and the error of one that has nothing to measure here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from agent.records.record import Record


class UnsupportedError(Exception):
    """This node lacks the subject of a collector; the message names it in one sentence."""


class Collector(Protocol):
    """Measures one thing; its constructor raises UnsupportedError where the node doesn't have it.

    `name` identifies it in configuration and in notes. `interval` is in seconds, at least 1. A collector keeps what it
    needs of its last call, so it is called by one thread only.
    """

    name: str
    interval: float

    def collect(self, now: int) -> Iterable[Record]:
        """Returns its present records; `now` is in nanoseconds since 1970. May raise OSError and ValueError.

        A file that is missing or makes no sense costs its own fields only, not those of others.
        """
        ...
