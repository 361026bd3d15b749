"""Writes colons of paths as the transport does. Jobs of schedules have one in their ids: `nightly:job-7`.

The SDK escapes it, the transport (yarl) takes that back when it sends the request, and a signature by key covers the
path as it is on the wire: without this no job of a schedule could be asked for with a key. Both spellings mean the same
(RFC 3986, section 3.3).
"""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from azure.core.pipeline.policies import SansIOHTTPPolicy


class PlainColonsPolicy(SansIOHTTPPolicy[Any, Any]):
    """To stand before whatever signs requests."""

    def on_request(self, request: Any) -> None:
        """Rewrites the path, and nothing else of the address."""
        parts = urlsplit(request.http_request.url)
        if "%3A" in parts.path:
            request.http_request.url = urlunsplit(parts._replace(path=parts.path.replace("%3A", ":")))
