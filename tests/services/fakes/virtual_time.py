"""An event loop whose time passes only while everything waits, so that slow polls are instant and repeatable."""

import asyncio
import selectors
from math import inf, nextafter
from typing import override


class _SkippingSelector(selectors.SelectSelector):
    """Advances the time to the next timer instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits and nothing will ever happen")
        if timeout > 0:
            self.now = nextafter(self.now + timeout, inf)  # after half a year, timers at `now` itself don't end
        return []  # nothing here reads a socket, and callbacks of other threads need no event


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    @override
    def time(self) -> float:
        return self._skipping.now
