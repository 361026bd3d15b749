"""The services for functions, opened once per process on first use, inside the running loop.

Importing opens nothing: an app with wrong or missing settings loads, and reports the problems on request.
"""

import asyncio
from contextvars import Context
from datetime import timedelta
from typing import TYPE_CHECKING

from shared.errors import StorageUnavailableError
from shared.settings import Settings

if TYPE_CHECKING:
    from shared.composition.opening import Services


class Runtime:
    """Settings now, services on first use. Slow imports happen then, too, to keep cold starts fast."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._services: Services | None = None
        self._opening: asyncio.Task[Services] | None = None

    async def services(self, *, patience: timedelta | None = None) -> "Services":
        """Returns the services, opened by the first caller; opening continues after one caller's `patience` ends.

        Raises SettingsError, naming every problem, and StorageError.
        """
        self.settings.require()
        if self._services is None:
            opening = self._opening or self._begun()
            try:
                async with asyncio.timeout(patience.total_seconds() if patience else None):
                    self._services = await asyncio.shield(opening)
            except TimeoutError as error:
                raise StorageUnavailableError("open the tables", "no answer, or no token for it, in time") from error
        return self._services

    def _begun(self) -> "asyncio.Task[Services]":
        from shared.composition.opening import open_services  # slow, so before any caller's patience begins
        from shared.garbage import collect_rarely

        collect_rarely()
        self._opening = asyncio.create_task(open_services(self.settings), context=Context())
        self._opening.add_done_callback(self._ended)
        return self._opening

    def _ended(self, opening: "asyncio.Task[Services]") -> None:
        """Allows the next caller to open the services again after a failure."""
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # marks it as retrieved; its callers received it
