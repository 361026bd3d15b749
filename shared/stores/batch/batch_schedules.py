"""Reads the job schedules of one Batch account without the SDK's models; never writes."""

from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote

from shared.domain.schedules.schedules import ScheduleFacts
from shared.stores.batch.batch_addresses import literal, query_of
from shared.stores.batch.batch_lists import BatchLists, ResourceList
from shared.stores.batch.batch_schedule_rows import (
    SCHEDULE_FIELDS,
    SPECIFICATION_FIELDS,
    Specified,
    schedule_of,
    specifications_of,
)

_NO_SCHEDULE = ("JobScheduleNotFound",)


class BatchSchedules(BatchLists):
    """One account's job schedules."""

    async def fetch_schedules(self) -> ResourceList[ScheduleFacts]:
        """Returns all job schedules without specifications, as no filter selects those with new jobs.

        Raises BatchError.
        """
        return await self.every(f"/jobschedules?{query_of(SCHEDULE_FIELDS)}", "job schedule", schedule_of)

    async def fetch_schedule(self, schedule_id: str) -> ScheduleFacts:
        """Returns one job schedule. Raises BatchMissingError if it doesn't exist, BatchError."""
        url = f"/jobschedules/{quote(schedule_id, safe='')}?{query_of(SCHEDULE_FIELDS, page=False)}"
        return await self.one(url, f"get the job schedule '{schedule_id}'", schedule_of, missing=_NO_SCHEDULE)

    async def fetch_specifications(self, *, modified_since: datetime) -> Mapping[tuple[str, datetime], Specified]:
        """Returns the job specifications of schedules modified at or after a time.

        They are keyed by the schedule's key and last modification. Raises BatchError.
        """
        condition = f"lastModified ge {literal(modified_since)}"
        url = f"/jobschedules?{query_of(SPECIFICATION_FIELDS, condition)}"
        found = await self.pages(url, "list what job schedules specify", specifications_of)
        return {(key, modified): specification for page, _ in found for key, modified, specification in page.things}
