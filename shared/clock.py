"""The only source of the time of day.

Production uses `SharedClock`, on which all hosts agree. Tests move time with a stepped clock that they share with an
emulator on this machine; only loopback addresses are accepted for it. Credentials and leases use neither, and keep real
time.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

_DATE_ROUNDING = timedelta(seconds=1)  # a response's `Date` is rounded down to whole seconds


class Clock(Protocol):
    async def now(self) -> datetime:
        """Returns the present time, aware, in UTC."""


class SharedClock:
    """This host's own time, corrected as far as the dates of storage's responses prove it wrong.

    Hosts store times for each other: when a round began, until when a job is another's. So they use storage's time.
    """

    def __init__(self, own: Callable[[], datetime] | None = None) -> None:
        self._own = own or _own_time
        self._correction = timedelta()

    async def now(self) -> datetime:
        return self._own() + self._correction

    def asking(self) -> Callable[[datetime], None]:
        """Starts a measurement before a request; returns a callback for the `Date` of the response."""
        asked_at = self._own()

        def answered(date: datetime) -> None:
            least, most = date - self._own(), date + _DATE_ROUNDING - asked_at
            self._correction = min(max(self._correction, least), most)

        return answered


class SteppedClock:
    """A clock that fetches its time with `fetch`."""

    def __init__(self, fetch: Callable[[], Awaitable[datetime]]) -> None:
        self._fetch = fetch

    async def now(self) -> datetime:
        return await self._fetch()


def _own_time() -> datetime:
    return datetime.now(UTC)
