"""Reads the stored state of a first read directly from the app's tables, without the app's code."""

import json
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables.aio import TableClient, TableServiceClient

from local.prove.first_read.watched_lists import Remainder


@dataclass(frozen=True, slots=True)
class StoredState:
    """The state: `is_over` once the job's counts are served; `left` is the rest in its plan, None without a plan."""

    is_over: bool
    left: Remainder | None
    tasks: int = 0

    @property
    def is_part(self) -> bool:
        """Whether some received data is stored."""
        return self.left is not None and (self.tasks > 0 or self.left.since is not None)

    def lost(self, earlier: "StoredState") -> str | None:
        """Returns a sentence about data that was stored earlier and is now missing; None if none is."""
        if earlier.left is None or self.is_over:
            return None
        if self.left is None:
            return f"the plan with {earlier.tasks:,} tasks is gone"
        if not self.left.goes_on_from(earlier.left):
            return f"of {self.left.ranges} ranges left some weren't left before"
        if self.left.since == earlier.left.since and self.tasks < earlier.tasks:
            return f"{self.tasks:,} tasks are stored, {earlier.tasks:,} were"
        return None


class StoredReads:
    """The reads of a storage account that holds a single job."""

    def __init__(self, connection_string: str, prefix: str) -> None:
        self._service = TableServiceClient.from_connection_string(connection_string)
        self._prefix = prefix

    async def close(self) -> None:
        await self._service.close()

    async def look(self) -> StoredState:
        job = next(iter(await self._rows("jobs", "RowKey ne ''")), {})
        if "generation" in job:
            return StoredState(True, None)
        plans = await self._rows("tasks", "RowKey eq 'reading'")
        plan = next((row for row in plans if row["generation"] == job.get("building")), None)
        if plan is None:
            return StoredState(False, None)
        return StoredState(False, Remainder.of(plan.get("since"), _ranges(plan)), plan["tasks"])

    async def claim(self) -> str | None:
        """Returns the name of the last message in work, as messages contain it."""
        for row in await self._rows("accounts", "RowKey ne ''"):
            if "claims0" in row:
                claims: dict[str, float] = _unpacked(row, "claims")
                return next((datetime.fromtimestamp(at, UTC).isoformat() for at in claims.values()), None)
        return None

    async def _rows(self, table: str, query: str) -> list[dict[str, Any]]:
        client: TableClient = self._service.get_table_client(f"{self._prefix}{table}")
        try:
            return [dict(row) async for row in client.query_entities(query)]
        except ResourceNotFoundError:
            return []


def _ranges(plan: dict[str, Any]) -> list[Any]:
    found: list[Any] = _unpacked(plan, "ranges")
    return found


def _unpacked(row: dict[str, Any], name: str) -> Any:
    """Returns a value of any length, joined from the properties `name0`, `name1` and so on."""
    parts = sorted((part for part in row if part.startswith(name)), key=lambda part: int(part[len(name) :]))
    return json.loads(zlib.decompress(b"".join(row[part] for part in parts)))
