"""Reads a stepped clock from an emulator on this machine; settings admit no other address."""

from datetime import datetime

import aiohttp
import orjson

from shared.errors import BatchUnreachableError


class SteppedTime:
    """The time at an address, asked over one connection, which is kept as long as the process."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session: aiohttp.ClientSession | None = None

    async def fetch(self) -> datetime:
        """Returns the virtual time. Raises BatchUnreachableError."""
        self._session = self._session or aiohttp.ClientSession()
        try:
            async with self._session.get(self._url) as answer:
                return datetime.fromisoformat(orjson.loads(await answer.read())["time"])
        except (aiohttp.ClientError, ValueError, KeyError) as error:
            raise BatchUnreachableError(self._url, f"no time could be read: {error}") from error
