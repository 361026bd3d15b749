"""The one door to the time of day.

Production uses `SharedClock`, on which all hosts agree. A stepped clock, shared with an emulator on this machine, lets
tests move time; it is accepted on loopback addresses only. Credentials and leases never use either: they keep real time
on their own.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

_DATE_ROUNDING = timedelta(seconds=1)  # the `Date` of an answer is rounded down to that


class Clock(Protocol):
    async def now(self) -> datetime:
        """The present time, aware, in UTC."""


class SharedClock:
    """This host's own time, moved as far as the dates of storage's answers prove it wrong, and no further.

    Hosts leave each other times in storage: when a round began, until when a job is another's. So they go by its time.
    """

    def __init__(self, own: Callable[[], datetime] | None = None) -> None:
        self._own = own or _own_time
        self._correction = timedelta()

    async def now(self) -> datetime:
        return self._own() + self._correction

    def asking(self) -> Callable[[datetime], None]:
        """To be called before a request; what it gives takes the date of the answer, which is of some time since."""
        asked_at = self._own()

        def answered(date: datetime) -> None:
            least, most = date - self._own(), date + _DATE_ROUNDING - asked_at
            self._correction = min(max(self._correction, least), most)

        return answered


class SteppedClock:
    """Asks for the time wherever `fetch` finds it."""

    def __init__(self, fetch: Callable[[], Awaitable[datetime]]) -> None:
        self._fetch = fetch

    async def now(self) -> datetime:
        return await self._fetch()


def _own_time() -> datetime:
    return datetime.now(UTC)
