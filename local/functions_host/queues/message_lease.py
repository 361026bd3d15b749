"""The lease of one message while a function processes it: renewed in time, and marked when lost."""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Self

from azure.core.exceptions import AzureError, HttpResponseError
from azure.storage.queue import QueueMessage
from azure.storage.queue.aio import QueueClient

_LOG = logging.getLogger("host.queues")
_CLIENT_ERRORS = range(400, 500)


class MessageLease:
    """A lease; inside `async with` the message stays hidden from other consumers, unless `is_lost`."""

    def __init__(self, queue: QueueClient, message: QueueMessage, duration: timedelta) -> None:
        self._queue, self._message, self._duration = queue, message, duration
        self._pop_receipt = message.pop_receipt
        self._end = asyncio.Event()
        self._renewal: asyncio.Task[None] | None = None
        self.is_lost = False

    async def __aenter__(self) -> Self:
        self._renewal = asyncio.create_task(self._renew())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Waits for a running renewal: a cancelled one might have changed the pop receipt unnoticed."""
        self._end.set()
        if self._renewal:
            await self._renewal

    async def release(self, after: timedelta) -> None:
        """Makes the message visible after a delay; if that fails, it becomes visible when the lease expires."""
        with suppress(AzureError):
            if not self.is_lost:
                await self._update(after)

    async def delete(self) -> None:
        try:
            await self._queue.delete_message(self._message.id, self._pop_receipt)
        except HttpResponseError as error:
            self._handle_loss(error)

    async def _renew(self) -> None:
        while not self.is_lost:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), self._duration.total_seconds() / 3)
                return
            try:
                await self._update(self._duration)
            except HttpResponseError as error:
                self._handle_loss(error)
            except AzureError:
                continue  # storage doesn't answer: the next renewal may succeed

    async def _update(self, hidden_for: timedelta) -> None:
        updated = await self._queue.update_message(
            self._message.id, self._pop_receipt, visibility_timeout=int(hidden_for.total_seconds())
        )
        self._pop_receipt = updated.pop_receipt

    def _handle_loss(self, error: HttpResponseError) -> None:
        """A 4xx means that another consumer received, changed or deleted the message. A 5xx doesn't."""
        if error.status_code in _CLIENT_ERRORS:
            self.is_lost = True
            _LOG.warning("message %s isn't ours any more: %s", self._message.id, error.reason)
