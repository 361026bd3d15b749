"""The one door to the time of day.

Production uses `SystemClock`. A stepped clock, shared with an emulator on this machine, lets tests move time; it is
accepted on loopback addresses only. Credentials and leases never use either: they keep real time on their own.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    async def now(self) -> datetime:
        """The present time, aware, in UTC."""


class SystemClock:
    async def now(self) -> datetime:
        return datetime.now(UTC)


class SteppedClock:
    """Asks for the time wherever `fetch` finds it."""

    def __init__(self, fetch: Callable[[], Awaitable[datetime]]) -> None:
        self._fetch = fetch

    async def now(self) -> datetime:
        return await self._fetch()
