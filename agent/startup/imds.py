"""Client of Azure's Instance Metadata Service (IMDS), which answers on the node itself.

Requests never go through a proxy and carry no secret. Answers are bounded in size and time.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from agent.machine.clock import Clock

TIMEOUT = 2.0
"""Seconds of each wait for the service; a whole answer may take twice as long."""
MAX_BODY = 1 << 20
"""Bytes of an answer; the instance document has about 5 KB."""
MAX_ATTEMPTS = 3
_INSTANCE = "/metadata/instance?api-version=2021-02-01&format=json"
_EVENTS = "/metadata/scheduledevents?api-version=2020-07-01"
_RETRYABLE = (410, 429)  # the service updates itself, or asks for fewer requests
_PAUSE = 1.0  # seconds


class ImdsError(Exception):
    """The service gave no usable answer; `is_retryable` where the same request may succeed a little later."""

    def __init__(self, message: str, *, is_retryable: bool = False) -> None:
        super().__init__(message)
        self.is_retryable = is_retryable


class Imds:
    """Asks the service at an address such as `http://169.254.169.254`; `timeout` is in seconds."""

    def __init__(self, address: str, clock: Clock, timeout: float = TIMEOUT) -> None:
        parts = urlsplit(address)
        self._host, self._port = parts.hostname or "", parts.port or 80
        self._clock = clock
        self._timeout = timeout

    def instance(self) -> Mapping[str, object]:
        """Returns the instance document. Raises ImdsError after at most three attempts, a few seconds in all."""
        for attempt in range(1, MAX_ATTEMPTS):
            try:
                return self._document(_INSTANCE)
            except ImdsError as error:
                if not error.is_retryable:
                    raise
            self._clock.sleep(_PAUSE * attempt)
        return self._document(_INSTANCE)

    def scheduled_events(self) -> Mapping[str, object]:
        """Returns the document of scheduled events, by one attempt. Raises ImdsError.

        The first request enables Scheduled Events for the VM; its answer may take two minutes, so it may fail.
        """
        return self._document(_EVENTS)

    def _document(self, path: str) -> Mapping[str, object]:
        try:
            status, body = self._request(path)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ImdsError(f"The metadata service can't be reached: {type(error).__name__}.") from error
        if status != http.client.OK:
            is_retryable = status in _RETRYABLE or status >= http.client.INTERNAL_SERVER_ERROR
            raise ImdsError(f"The metadata service answers with status {status}.", is_retryable=is_retryable)
        return _document_of(body)

    def _request(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            connection.request("GET", path, headers={"Metadata": "true", "Connection": "close"})
            response = connection.getresponse()
            return response.status, self._body(response)
        finally:
            connection.close()

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        """Returns the body. Raises ValueError where it is too large, TimeoutError where it comes too slowly."""
        until, body = self._clock.monotonic() + self._timeout, bytearray()
        while piece := response.read1(MAX_BODY):
            body += piece
            if len(body) > MAX_BODY:
                raise ValueError("the answer is too large")
            if self._clock.monotonic() > until:
                raise TimeoutError
        return bytes(body)


def _document_of(body: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ImdsError("The metadata service's answer is no JSON.") from error
    if not isinstance(found, dict):
        raise ImdsError("The metadata service's answer is no JSON object.")
    return found
