"""Runs an app's functions in tests, through the host's worker, routing and bindings, without a socket.

Nothing listens: timers and queue functions run on request, and storage is needed only for outputs. One process runs one
app (see worker.py): open one InProcessApp per test session, or several in turn for the same folder.
"""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Self

from azure.storage.queue import QueueMessage
from yarl import URL

from local.functions_host.app.functions import Function
from local.functions_host.app.messages import TypedData
from local.functions_host.blobs.blob_events import blob_metadata
from local.functions_host.host import FunctionApp
from local.functions_host.http.http_messages import HttpRequest, HttpResponse
from local.functions_host.timers.timers import timer_message
from local.functions_host.triggers import queue_metadata

_BASE = URL("http://127.0.0.1:7071")


class InProcessApp:
    """`async with InProcessApp(folder, os.environ) as app`. The app itself reads the process's own environment."""

    def __init__(self, app_dir: Path, environment: Mapping[str, str]) -> None:
        self._app_dir, self._environment = app_dir, environment
        self._app: FunctionApp | None = None

    async def __aenter__(self) -> Self:
        self._app = await FunctionApp.load(self._app_dir, self._environment, listening=False)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._loaded.close()

    @property
    def functions(self) -> Mapping[str, Function]:
        return self._loaded.worker.functions

    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> HttpResponse:
        """Sends a request; `path` follows the host name and includes the query.

        Returns 404 if no function serves it.
        """
        request = HttpRequest(method, _BASE.join(URL(path)), tuple((headers or {}).items()), body)
        found = self._loaded.http.find(request)
        if found is None:
            return HttpResponse(HTTPStatus.NOT_FOUND)
        function, match = found
        return await self._loaded.http.answer(request, function, match)

    async def fire(self, timer: str, *, past_due: bool = False) -> None:
        """Runs a timer function with its retries; raises FunctionFailedError if it finally fails."""
        await self._loaded.invoker.run(self.functions[timer], timer_message(None, past_due=past_due))

    async def deliver(self, function: str, text: str, *, dequeue_count: int = 1) -> None:
        """Passes a message that is in no queue to a queue function; raises FunctionFailedError if it fails."""
        found = self.functions[function]
        message = _message(text, dequeue_count)
        metadata = queue_metadata(message, text)
        values = {"queueTrigger": text, "id": message.id}
        await self._loaded.invoker.run(found, TypedData(string=text), metadata=metadata, values=values)

    async def deliver_blob(self, function: str, path: str, content: bytes = b"") -> None:
        """Runs a blob function as for a new blob `container/name`; raises FunctionFailedError if it fails."""
        metadata = blob_metadata(f"http://127.0.0.1/{path}", path, len(content))
        found = self.functions[function]
        await self._loaded.invoker.run(found, TypedData(bytes=content), metadata=metadata, values={"blobTrigger": path})

    @property
    def _loaded(self) -> FunctionApp:
        if self._app is None:
            raise RuntimeError("InProcessApp is used inside `async with`")
        return self._app


def _message(text: str, dequeue_count: int) -> QueueMessage:
    now = datetime.now(UTC)
    message = QueueMessage(content=text)
    message.id, message.pop_receipt, message.dequeue_count = str(uuid.uuid4()), "in-process", dequeue_count
    message.inserted_on, message.expires_on, message.next_visible_on = now, now + timedelta(days=7), now
    return message
