"""Faults between an agent and storage, and their frequency."""

import random
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from enum import StrEnum


class Fault(StrEnum):
    """A fault of one request; the first eight have it done."""

    RESET_AFTER = "reset after it was done"
    FAILED_AFTER = "500 after it was done"
    BUSY_AFTER = "503 after it was done"
    TWICE = "done twice, second answer"
    CUT_OFF = "answer cut off"
    CUT_IN_LENGTH = "answer cut off in its length"
    DELAYED = "answer delayed"
    LATE = "reset, done seconds later"
    RESET_BEFORE = "reset before it was done"
    BUSY = "503"
    ASKED_TO_WAIT = "503, Retry-After"
    CONFLICT = "409"
    MOVED = "412"
    FORBIDDEN = "403"
    NOT_STORAGE = "200 of no storage"
    DOWN = "storage down"


_CHOSEN = tuple(fault for fault in Fault if fault is not Fault.DOWN)
_OF_LOOKS = (*_CHOSEN, *[Fault.CUT_IN_LENGTH] * 5)
_SHARE = 0.35
"""Of requests that a fault strikes."""


class FaultPlan:
    """Chooses the fault of each request; any thread may call it. `struck` counts them.

    The storage of nodes in `spared` has no faults but that it is down.
    """

    def __init__(self, seed: int, spared: Collection[str] = ()) -> None:
        self.struck: Counter[Fault] = Counter()
        self._chance = random.Random(f"{seed} faults")
        self._down: dict[str, float] = {}
        self._spared = frozenset(spared)
        self._is_calm = False
        self._lock = threading.Lock()

    def next(self, node: str, *, is_look: bool = False) -> Fault | None:
        """Returns the fault of a node's next request, None for none; a look asks for a blob's length."""
        with self._lock:
            fault = self._chosen(node, _OF_LOOKS if is_look else _CHOSEN)
            if fault:
                self.struck[fault] += 1
            return fault

    def uniform(self, low: float, high: float) -> float:
        with self._lock:
            return self._chance.uniform(low, high)

    def set_down(self, node: str, seconds: float) -> None:
        """Lets storage answer none of a node's requests for some time."""
        with self._lock:
            self._down[node] = max(self._down.get(node, 0.0), time.monotonic() + seconds)

    def calm(self) -> None:
        """Lets nothing go wrong any more."""
        with self._lock:
            self._is_calm = True

    def _chosen(self, node: str, faults: Sequence[Fault]) -> Fault | None:
        if self._is_calm:
            return None
        if time.monotonic() < self._down.get(node, 0.0):
            return Fault.DOWN
        if node in self._spared:
            return None
        return self._chance.choice(faults) if self._chance.random() < _SHARE else None
