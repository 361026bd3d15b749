"""Running work that a stop must let finish: everything started by triggers other than HTTP."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_LOG = logging.getLogger("host")


class InFlight:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start[T](self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def drain(self, limit: float) -> None:
        """Waits up to `limit` seconds for running work, then cancels the rest and lets it clean up."""
        if not self._tasks:
            return
        _LOG.info("waiting for %d running invocation(s)", len(self._tasks))
        _, left = await asyncio.wait(self._tasks, timeout=limit)
        for task in left:
            task.cancel()
        if left:
            _LOG.warning("cancelled %d invocation(s) that didn't end within %g s", len(left), limit)
            await asyncio.wait(left, timeout=0.5)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("a trigger failed", exc_info=error)
