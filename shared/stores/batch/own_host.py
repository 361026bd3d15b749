"""Keeps requests, and the credentials on them, on the account's own host."""

from typing import Any
from urllib.parse import urlsplit

from azure.core.pipeline.policies import SansIOHTTPPolicy

from shared.errors import BatchAnswerError

_PORTS = {"http": 80, "https": 443}


class OwnHostPolicy(SansIOHTTPPolicy[Any, Any]):
    """Refuses requests to another scheme, host or port, for example from next links or redirects."""

    def __init__(self, endpoint: str) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._own = _place(endpoint)

    def on_request(self, request: Any) -> None:
        """Raises BatchAnswerError."""
        url = request.http_request.url
        if _place(url) != self._own:
            raise BatchAnswerError(f"{self._endpoint} sent a link to another host: {urlsplit(url).hostname}")


def _place(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
