"""The state of a timer in host storage: its last run and next due time, under Azure's names."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob.aio import BlobClient

from local.functions_host.timers.schedule import Schedule

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TimerStatus:
    """`last` is NEVER before the first run; `updated` is the time from which `next` was computed."""

    last: datetime
    next: datetime
    updated: datetime

    @classmethod
    def parse(cls, text: bytes) -> "TimerStatus":
        content = json.loads(text)
        return cls(*(_moment(content[name]) for name in ("Last", "Next", "LastUpdated")))

    def render(self) -> dict[str, str]:
        return {"Last": _text(self.last), "Next": _text(self.next), "LastUpdated": _text(self.updated)}


def initial_status(stored: TimerStatus | None, schedule: Schedule, now: datetime) -> TimerStatus:
    """Returns the status at start. Its `next` lies in the past if a run was missed.

    As in Azure, a run counts as missed only if it was due under the current schedule; after a change of the schedule,
    planning starts afresh. The same holds for a status from the future, which remains when a virtual clock is set back.
    """
    fresh = TimerStatus(last=NEVER, next=schedule.next_after(now), updated=now)
    if stored is None or stored.updated > now:
        return fresh
    since = stored.last if stored.last != NEVER else stored.updated
    expected = schedule.next_after(since)
    if expected == stored.next:
        return stored
    return TimerStatus(NEVER, expected, since) if expected >= now else fresh


class TimerStatusBlob:
    def __init__(self, blob: BlobClient) -> None:
        self._blob = blob

    async def load(self) -> TimerStatus | None:
        try:
            return TimerStatus.parse(await (await self._blob.download_blob()).readall())
        except (ResourceNotFoundError, ValueError, KeyError, TypeError):
            return None

    async def save(self, status: TimerStatus) -> None:
        await self._blob.upload_blob(json.dumps(status.render()), overwrite=True)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
