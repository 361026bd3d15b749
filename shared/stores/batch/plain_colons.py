"""Writes colons in paths as the transport does; job ids of schedules have one: `nightly:job-7`.

The SDK escapes the colon, the transport (yarl) unescapes it when it sends the request, and a signature by key covers
the path as sent. Without this policy no job of a schedule could be requested with a key. Both spellings are equivalent
(RFC 3986, section 3.3).
"""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from azure.core.pipeline.policies import SansIOHTTPPolicy


class PlainColonsPolicy(SansIOHTTPPolicy[Any, Any]):
    """Unescapes colons; must precede the policy that signs requests."""

    def on_request(self, request: Any) -> None:
        """Rewrites only the path of the URL."""
        parts = urlsplit(request.http_request.url)
        if "%3A" in parts.path:
            request.http_request.url = urlunsplit(parts._replace(path=parts.path.replace("%3A", ":")))
