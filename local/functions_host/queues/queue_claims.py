"""The hold on one message while a function works on it: renewed in time, and known to be lost when it is."""

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


class Claim:
    """Inside `async with` the message stays hidden from others, unless `lost`."""

    def __init__(self, queue: QueueClient, message: QueueMessage, duration: timedelta) -> None:
        self._queue, self._message, self._duration = queue, message, duration
        self._pop_receipt = message.pop_receipt
        self._end = asyncio.Event()
        self._renewal: asyncio.Task[None] | None = None
        self.lost = False

    async def __aenter__(self) -> Self:
        self._renewal = asyncio.create_task(self._renew())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Lets a renewal under way finish: cut off, it may have changed the pop receipt unseen."""
        self._end.set()
        if self._renewal:
            await self._renewal

    async def give_back(self, after: timedelta) -> None:
        """Shows the message again after a while; at worst it shows when the claim runs out."""
        with suppress(AzureError):
            if not self.lost:
                await self._update(after)

    async def delete(self) -> None:
        try:
            await self._queue.delete_message(self._message.id, self._pop_receipt)
        except HttpResponseError as error:
            self._tell_loss(error)

    async def _renew(self) -> None:
        while not self.lost:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), self._duration.total_seconds() / 3)
                return
            try:
                await self._update(self._duration)
            except HttpResponseError as error:
                self._tell_loss(error)
            except AzureError:
                continue  # storage is away: the next renewal may find it

    async def _update(self, hidden_for: timedelta) -> None:
        updated = await self._queue.update_message(
            self._message.id, self._pop_receipt, visibility_timeout=int(hidden_for.total_seconds())
        )
        self._pop_receipt = updated.pop_receipt

    def _tell_loss(self, error: HttpResponseError) -> None:
        """404 or 400: someone else claimed, changed or deleted the message. A 5xx says nothing about it."""
        if error.status_code in _CLIENT_ERRORS:
            self.lost = True
            _LOG.warning("message %s isn't ours any more: %s", self._message.id, error.reason)
