"""Queue triggers: claims messages in batches, renews claims, retries failures, and moves poison messages.

Azure claims a message for ten minutes. Here it is 30 seconds, renewed every ten, so that messages of a killed host
reappear soon. Likewise an idle queue is polled at least every two seconds, even if maxPollingInterval is longer: the
default minute saves money in Azure and would only cost time here.
"""

import asyncio
import base64
import binascii
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from azure.core.exceptions import AzureError, ResourceNotFoundError
from azure.storage.queue import QueueMessage
from azure.storage.queue.aio import QueueClient

from local.functions_host.app.errors import MessageError, TryFailedError
from local.functions_host.app.inflight import InFlight
from local.functions_host.app.settings import QueueOptions
from local.functions_host.app.storage import create_queue
from local.functions_host.queues.queue_claims import Claim

_LOG = logging.getLogger("host.queues")
_SHORTEST_WAIT = 0.1
_LONGEST_WAIT = 2.0

type Work = Callable[[QueueMessage, str], Awaitable[None]]


class QueueListener:
    def __init__(
        self,
        queue: QueueClient,
        poison: QueueClient | None,
        work: Work,
        *,
        options: QueueOptions,
        in_flight: InFlight,
        claim_for: timedelta = timedelta(seconds=30),
    ) -> None:
        """`work` gets a message and its decoded text; a TryFailedError counts as a failed try.

        After a MessageError there is no retry. As in Azure, a poison queue has no `poison` queue of its own: a message
        that fails there stays hidden until its claim ends.
        """
        self._queue, self._poison, self._work = queue, poison, work
        self._options, self._in_flight, self._claim_for = options, in_flight, claim_for
        self._running: set[asyncio.Task[None]] = set()
        self._away = False

    async def listen(self, stopping: asyncio.Event) -> None:
        """Returns soon after `stopping` is set; messages claimed by then continue as in-flight work."""
        longest = min(self._options.max_polling_interval.total_seconds(), _LONGEST_WAIT)
        wait = _SHORTEST_WAIT
        while not stopping.is_set():
            messages = await self._receive()
            for message in messages:
                task = self._in_flight.start(self._attend(message))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            if messages:
                wait = _SHORTEST_WAIT
                await self._room(stopping)
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), wait)
                wait = min(longest, wait * 2)

    async def _receive(self) -> list[QueueMessage]:
        """Returns a batch; nothing if the queue is new or storage doesn't answer."""
        size = self._options.batch_size
        pages = self._queue.receive_messages(
            messages_per_page=size, max_messages=size, visibility_timeout=int(self._claim_for.total_seconds())
        )
        messages: list[QueueMessage] = []
        try:
            async for message in pages:
                messages.append(message)  # noqa: PERF401 - what came before a failure is claimed and must be worked on
        except ResourceNotFoundError:
            with suppress(AzureError):
                await create_queue(self._queue)
        except AzureError as error:
            self._tell_outage(error)
            return messages
        if self._away:
            _LOG.info("the queue %s answers again", self._queue.queue_name)
        self._away = False
        return messages

    def _tell_outage(self, error: AzureError) -> None:
        if not self._away:
            _LOG.warning("the queue %s doesn't answer, trying on: %s", self._queue.queue_name, error)
        self._away = True

    async def _room(self, stopping: asyncio.Event) -> None:
        while len(self._running) > self._options.new_batch_threshold and not stopping.is_set():
            stop = asyncio.create_task(stopping.wait())
            await asyncio.wait({*self._running, stop}, return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()

    async def _attend(self, message: QueueMessage) -> None:
        claim = Claim(self._queue, message, self._claim_for)
        try:
            async with claim:
                done = await self._try(message)
        except asyncio.CancelledError:
            await claim.give_back(timedelta())
            raise
        try:
            await self._settle(claim, message, done=done)
        except AzureError as error:
            _LOG.warning("message %s couldn't be settled and will come back: %s", message.id, error)

    async def _try(self, message: QueueMessage) -> bool | None:
        """Returns True if done, False for a retry, None if no retry can succeed."""
        text = decode(message.content, base64_encoded=self._options.base64)
        if text is None:
            _LOG.error("message %s of %s isn't base64 text", message.id, self._queue.queue_name)
            return None
        try:
            await self._work(message, text)
        except TryFailedError:
            return None if (message.dequeue_count or 0) >= self._options.max_dequeue_count else False
        except MessageError as error:
            _LOG.error("message %s of %s: %s", message.id, self._queue.queue_name, error)
            return None
        return True

    async def _settle(self, claim: Claim, message: QueueMessage, *, done: bool | None) -> None:
        if claim.lost or (not done and self._poison is None):
            return
        if done is False:
            await claim.give_back(self._options.visibility_timeout)
            return
        if done is None and self._poison:
            _LOG.warning("message %s moves to %s", message.id, self._poison.queue_name)
            await _bury(message, self._poison)
        await claim.delete()


async def _bury(message: QueueMessage, poison: QueueClient) -> None:
    try:
        await poison.send_message(message.content)
    except ResourceNotFoundError:
        await create_queue(poison)
        await poison.send_message(message.content)


def decode(content: str, *, base64_encoded: bool) -> str | None:
    """Returns a message's text, or None if it doesn't match host.json's messageEncoding."""
    if not base64_encoded:
        return content
    try:
        return base64.b64decode(content, validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        return None
