"""Sends requests to Table Storage: counts writes, and reports storage's time to the clock."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, override
from urllib.parse import urlsplit

from azure.core.pipeline.transport import AioHttpTransport

from shared.domain.core.stamps import http_date
from shared.stores.tables.storage_timeout import current_patience

type Asking = Callable[[], Callable[[datetime], None]]
_TABLE = re.compile(r"/([A-Za-z][A-Za-z0-9]{2,62})(?:\(|\Z)")


class TableTransport(AioHttpTransport):  # type: ignore[misc]  # untyped there
    """Transport that counts answered writes by table, and those of unknown outcome.

    `asking` is called for each request, and its result with the date of the response.
    """

    def __init__(self, asking: Asking | None, **options: Any) -> None:
        super().__init__(**options)
        self.writes = Counter[str]()
        self._asking = asking

    @override
    async def send(self, request: Any, **options: Any) -> Any:
        patience, answered = current_patience(), self._asking() if self._asking else None
        sent = super().send(request, **options)
        try:
            answer = await (patience.wait(sent) if patience else sent)
            if answered and (date := http_date(answer.headers.get("Date"))):
                answered(date)
            return answer
        finally:
            if request.method != "GET":
                self.writes[_table_of(request)] += 1


def _table_of(request: Any) -> str:
    """Returns the table of a write by its URL, empty if that doesn't show it.

    A transaction has the URL of its first part, as all parts are for one table.
    """
    while parts := getattr(request, "multipart_mixed_info", None):
        request = parts[0][0]
    found = _TABLE.search(urlsplit(request.url or "").path)
    return found[1] if found else ""
