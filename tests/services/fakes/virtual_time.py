"""An event loop whose time passes only while everything waits, so that slow polls are instant and repeatable."""

import asyncio
import selectors
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
        self.now += max(timeout, 0)
        return []  # nothing here reads a socket, and callbacks of other threads need no event


class VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    @override
    def time(self) -> float:
        return self._skipping.now
