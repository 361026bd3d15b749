"""Policies about the addresses of requests: credentials stay on the account's own host, and colons are plain."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

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


class PlainColonsPolicy(SansIOHTTPPolicy[Any, Any]):
    """Writes colons in paths as the transport does; job ids of schedules have one: `nightly:job-7`.

    The SDK escapes the colon, the transport (yarl) unescapes it when it sends the request, and a signature by key
    covers the path as sent. Without this policy, which must precede the one that signs, no job of a schedule could be
    requested with a key. Both spellings are equivalent (RFC 3986, section 3.3).
    """

    def on_request(self, request: Any) -> None:
        """Rewrites only the path of the URL."""
        parts = urlsplit(request.http_request.url)
        if "%3A" in parts.path:
            request.http_request.url = urlunsplit(parts._replace(path=parts.path.replace("%3A", ":")))
