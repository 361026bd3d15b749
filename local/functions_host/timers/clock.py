"""The time that timers follow: the machine's, or the virtual time of the Batch emulator.

Only timers use it. Leases always use real time, because storage does.
"""

import asyncio
import contextlib
import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout

from local.functions_host.app.errors import ConfigurationError

_LOG = logging.getLogger("host.clock")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_STEPPED_POLL = 0.05
_MAX_SLEEP = 60.0  # seconds; the machine may be suspended or its clock set meanwhile
_LIVE_POLL = 1.0
_OUTAGE_POLL = 0.5
_TIMEOUT = ClientTimeout(total=5)


class Clock(Protocol):
    async def now(self) -> datetime: ...

    async def sleep_until(self, moment: datetime) -> bool:
        """Returns True at `moment`, or False after time was set back, so that the caller plans again."""
        ...

    async def close(self) -> None: ...


class RealClock:
    async def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep_until(self, moment: datetime) -> bool:
        remaining = (moment - datetime.now(UTC)).total_seconds()
        while remaining > 0:
            await asyncio.sleep(min(remaining, _MAX_SLEEP))
            remaining = (moment - datetime.now(UTC)).total_seconds()
        return True

    async def close(self) -> None:
        return


@dataclass(frozen=True, slots=True)
class _ClockReading:
    time: datetime
    stepped: bool


class EmulatorClock:
    """Follows `GET /_emulator/clock`. In live mode that is real time, so it is polled only every second."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname not in _LOOPBACK:
            raise ConfigurationError(f"--clock must be an http address on this machine, not '{url}'.")
        self._url = url
        self._session: ClientSession | None = None
        self._is_unreachable = False

    async def now(self) -> datetime:
        return (await self._read()).time

    async def sleep_until(self, moment: datetime) -> bool:
        latest: datetime | None = None
        while True:
            reading = await self._read()
            if reading.time >= moment:
                return True
            if latest and reading.time < latest:
                return False
            latest = reading.time
            remaining = (moment - reading.time).total_seconds()
            await asyncio.sleep(_STEPPED_POLL if reading.stepped else min(remaining, _LIVE_POLL))

    async def close(self) -> None:
        if self._session:
            await self._session.close()

    async def _read(self) -> _ClockReading:
        """Returns the time; waits while the emulator doesn't answer, as there is no other source."""
        self._session = self._session or ClientSession(timeout=_TIMEOUT)
        while True:
            with contextlib.suppress(ClientError, TimeoutError, ValueError, KeyError, TypeError):
                async with self._session.get(self._url, raise_for_status=True) as response:
                    reading = _parse(await response.read())
                if self._is_unreachable:
                    _LOG.info("the clock at %s answers again", self._url)
                self._is_unreachable = False
                return reading
            if not self._is_unreachable:
                _LOG.warning("the clock at %s doesn't answer; timers stand still", self._url)
            self._is_unreachable = True
            await asyncio.sleep(_OUTAGE_POLL)


def _parse(body: bytes) -> _ClockReading:
    answer = json.loads(body)
    if answer["mode"] == "live":
        return _ClockReading(datetime.now(UTC), stepped=False)
    return _ClockReading(datetime.fromisoformat(answer["time"]).astimezone(UTC), stepped=True)
