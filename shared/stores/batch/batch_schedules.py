"""Reads the job schedules of one Batch account without the SDK's models; never writes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

from shared.domain.core.keys import key_of
from shared.domain.schedules.schedules import ScheduleFacts
from shared.errors import BatchAnswerError
from shared.stores.batch.batch_addresses import literal, query_of
from shared.stores.batch.batch_lists import BatchLists, existing_at
from shared.stores.batch.batch_schedule_rows import (
    SCHEDULE_FIELDS,
    SPECIFICATION_FIELDS,
    Specified,
    schedule_of,
    schedules_of,
    specifications_of,
)

_NO_SCHEDULE = ("JobScheduleNotFound",)


@dataclass(frozen=True, slots=True)
class ScheduleList:
    """All job schedules of an account, and the date of the list's first response.

    Schedules created later, which further pages may show, are left out: nothing is known of them as of that date.
    `nonsense` are errors of invalid rows, by key.
    """

    schedules: tuple[ScheduleFacts, ...]
    date: datetime
    nonsense: Mapping[str, str] = field(default_factory=dict)


class BatchSchedules(BatchLists):
    """One account's job schedules."""

    async def fetch_schedules(self) -> ScheduleList:
        """Returns all job schedules without specifications, as no filter selects those with new jobs.

        Raises BatchError.
        """
        url = f"/jobschedules?{query_of(SCHEDULE_FIELDS)}"
        found, dates = await self.pages(url, "list job schedules", schedules_of)
        if not dates or dates[0] is None:
            raise BatchAnswerError(f"{self.account.endpoint} sent a list of job schedules that bears no date.")
        nonsense = {key_of(name): why for page in found for name, why in page.nonsense.items()}
        schedules = (schedule for page in found for schedule in page.things)
        return ScheduleList(tuple(existing_at(dates[0], schedules)), dates[0], nonsense)

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
        found, _ = await self.pages(url, "list what job schedules specify", specifications_of)
        return {(key, modified): specification for page in found for key, modified, specification in page.things}
