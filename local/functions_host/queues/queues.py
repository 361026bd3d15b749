"""Queue triggers: receives messages in batches, renews leases, retries failures, and moves poison messages.

Azure leases a message for ten minutes. Here it is 30 seconds, renewed every ten, so that messages of a killed host
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

from local.functions_host.app.errors import AttemptFailedError, MessageError
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.settings import QueueOptions
from local.functions_host.app.storage import create_queue
from local.functions_host.queues.message_lease import MessageLease

_LOG = logging.getLogger("host.queues")
_MIN_WAIT = 0.1
_MAX_WAIT = 2.0

type ProcessMessage = Callable[[QueueMessage, str], Awaitable[None]]


class QueueListener:
    def __init__(
        self,
        queue: QueueClient,
        poison: QueueClient | None,
        process_message: ProcessMessage,
        *,
        options: QueueOptions,
        in_flight: InFlightTasks,
        lease_duration: timedelta = timedelta(seconds=30),
    ) -> None:
        """`process_message` gets a message and its decoded text; an AttemptFailedError counts as a failed attempt.

        After a MessageError there is no retry. As in Azure, a poison queue has no `poison` queue of its own: a message
        that fails there stays hidden until its lease ends.
        """
        self._queue, self._poison, self._process_message = queue, poison, process_message
        self._options, self._in_flight, self._lease_duration = options, in_flight, lease_duration
        self._running: set[asyncio.Task[None]] = set()
        self._is_unreachable = False

    async def listen(self, stopping: asyncio.Event) -> None:
        """Returns soon after `stopping` is set; messages received by then continue as in-flight tasks."""
        max_wait = min(self._options.max_polling_interval.total_seconds(), _MAX_WAIT)
        wait = _MIN_WAIT
        while not stopping.is_set():
            messages = await self._receive()
            for message in messages:
                task = self._in_flight.start(self._process(message))
                self._running.add(task)
                task.add_done_callback(self._running.discard)
            if messages:
                wait = _MIN_WAIT
                await self._wait_for_capacity(stopping)
            else:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), wait)
                wait = min(max_wait, wait * 2)

    async def _receive(self) -> list[QueueMessage]:
        """Returns a batch; nothing if the queue is new or storage doesn't answer."""
        size = self._options.batch_size
        pages = self._queue.receive_messages(
            messages_per_page=size, max_messages=size, visibility_timeout=int(self._lease_duration.total_seconds())
        )
        messages: list[QueueMessage] = []
        try:
            async for message in pages:
                messages.append(message)  # noqa: PERF401 - messages received before a failure are leased and must be processed
        except ResourceNotFoundError:
            with suppress(AzureError):
                await create_queue(self._queue)
        except AzureError as error:
            self._log_outage(error)
            return messages
        if self._is_unreachable:
            _LOG.info("the queue %s answers again", self._queue.queue_name)
        self._is_unreachable = False
        return messages

    def _log_outage(self, error: AzureError) -> None:
        if not self._is_unreachable:
            _LOG.warning("the queue %s doesn't answer, trying on: %s", self._queue.queue_name, error)
        self._is_unreachable = True

    async def _wait_for_capacity(self, stopping: asyncio.Event) -> None:
        while len(self._running) > self._options.new_batch_threshold and not stopping.is_set():
            stop = asyncio.create_task(stopping.wait())
            await asyncio.wait({*self._running, stop}, return_when=asyncio.FIRST_COMPLETED)
            stop.cancel()

    async def _process(self, message: QueueMessage) -> None:
        lease = MessageLease(self._queue, message, self._lease_duration)
        try:
            async with lease:
                succeeded = await self._run_once(message)
        except asyncio.CancelledError:
            await lease.release(timedelta())
            raise
        try:
            await self._complete(lease, message, succeeded=succeeded)
        except AzureError as error:
            _LOG.warning("message %s couldn't be settled and will come back: %s", message.id, error)

    async def _run_once(self, message: QueueMessage) -> bool | None:
        """Returns True if done, False for a retry, None if no retry can succeed."""
        text = decode(message.content, base64_encoded=self._options.base64)
        if text is None:
            _LOG.error("message %s of %s isn't base64 text", message.id, self._queue.queue_name)
            return None
        try:
            await self._process_message(message, text)
        except AttemptFailedError:
            return None if (message.dequeue_count or 0) >= self._options.max_dequeue_count else False
        except MessageError as error:
            _LOG.error("message %s of %s: %s", message.id, self._queue.queue_name, error)
            return None
        return True

    async def _complete(self, lease: MessageLease, message: QueueMessage, *, succeeded: bool | None) -> None:
        if lease.is_lost or (not succeeded and self._poison is None):
            return
        if succeeded is False:
            await lease.release(self._options.visibility_timeout)
            return
        if succeeded is None and self._poison:
            _LOG.warning("message %s moves to %s", message.id, self._poison.queue_name)
            await _move_to_poison_queue(message, self._poison)
        await lease.delete()


async def _move_to_poison_queue(message: QueueMessage, poison: QueueClient) -> None:
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
