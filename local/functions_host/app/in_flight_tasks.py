"""Tasks that a stop must let finish: everything started by triggers other than HTTP."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

_LOG = logging.getLogger("host")


class InFlightTasks:
    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start[T](self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._remove)
        return task

    async def drain(self, limit: float) -> None:
        """Waits up to `limit` seconds for running work, then cancels the rest and lets it clean up."""
        if not self._tasks:
            return
        _LOG.info("waiting for %d running invocation(s)", len(self._tasks))
        _, remaining = await asyncio.wait(self._tasks, timeout=limit)
        for task in remaining:
            task.cancel()
        if remaining:
            _LOG.warning("cancelled %d invocation(s) that didn't end within %g s", len(remaining), limit)
            await asyncio.wait(remaining, timeout=0.5)

    def _remove(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("a trigger failed", exc_info=error)
