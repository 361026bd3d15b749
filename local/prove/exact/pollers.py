"""Requests polls continuously, one poller per host, so that kills hit running polls and hosts collide."""

import random
import threading
import urllib.error
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from local.prove.stack.api import Stack, call
from local.prove.stack.rig import UNANSWERED, Rig, Seat

_REST = (0.05, 0.8)  # seconds between two polls of one host
_LATER, _SOME = 0.1, 0.25  # shares of polls that are queued, and that name jobs


class Poller:
    """Polls one host until it is closed. `ends` counts the outcomes of polls."""

    def __init__(self, seat: Seat, account: str, names: Sequence[str], *, seed: str) -> None:
        self.turn = threading.Lock()
        self.ends: Counter[str] = Counter()
        self._seat, self._account, self._names = seat, account, names
        self._chance = random.Random(seed)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"poller of {seat.name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(self._chance.uniform(*_REST)):
            with self.turn:
                stack = self._seat.stack
                if stack:
                    self._seat.polls += 1
                    self.ends[self._end(stack)] += 1
                    self._seat.polls -= 1

    def _end(self, stack: Stack) -> str:
        try:
            return str(self._poll(stack)["status"])
        except urllib.error.HTTPError as error:
            return f"HTTP {error.code}"
        except UNANSWERED:
            return "cut off"

    def _poll(self, stack: Stack) -> Any:
        names = self._chance.sample(self._names, 3) if self._chance.random() < _SOME else None
        wait = "" if self._chance.random() < _LATER else "?wait=true"
        body = {"jobs": names} if names else {"all": True}
        return call("POST", f"{stack.api}/accounts/{self._account}/poll{wait}", body)


@contextmanager
def running_pollers(rig: Rig, names: Sequence[str], *, seed: int) -> Iterator[list[Poller]]:
    """Runs a poller for each seat inside the block."""
    with ExitStack() as stack:
        pollers = [Poller(seat, rig.account.name, names, seed=f"{seed}/{seat.name}") for seat in rig.seats]
        for poller in pollers:
            stack.callback(poller.close)
        yield pollers


@contextmanager
def resting(pollers: Sequence[Poller]) -> Iterator[None]:
    """Suspends all pollers inside the block, after their running polls ended."""
    with ExitStack() as stack:
        for poller in pollers:
            stack.enter_context(poller.turn)
        yield
