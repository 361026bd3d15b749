"""What the ended attempts of a task used: from all sessions that name the task, on any node.

A record of an end lies in the last day with data of its session, so only that day is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.query.ended_attempts import NAMES, EndedAttempt, ended_attempts, start_of
from shared.domain.telemetry.query.ranges import Range
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.query.series_selectors import selector_of
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY
from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, merged
from shared.services.telemetry.node_sessions import NodeSession, some_at_once
from shared.services.telemetry.telemetry_queries import TelemetryQueries
from shared.services.telemetry.telemetry_reader import Part, TelemetryReader

MAX_ATTEMPTS = 20
"""Attempts whose sums are read, the latest."""
_LATE = timedelta(hours=1)  # how far a node's clock may be ahead, and an end be seen late
_PARTS_AT_ONCE = 4
_HOUR_MILLISECONDS = 3_600_000


@dataclass(frozen=True, slots=True)
class EndedAttemptQueries:
    telemetry: TelemetryQueries

    async def of_task(
        self, account_key: str, job: str, task: str, since: datetime, until: datetime
    ) -> Sequence[EndedAttempt]:
        """Returns attempts that started after `since`, and ended by `until` or a little later; the latest first.

        Raises CacheConflictError, StorageError.
        """
        wanted = await self.telemetry.range_of(SeriesQuery(since, until + _LATE))
        if wanted.since >= wanted.until:
            return ()
        sessions = await self.telemetry.sessions.find_attempts(account_key, job, task, wanted.hours)
        last: dict[datetime, list[NodeSession]] = {}
        for session in sorted(sessions, key=lambda one: one.entry.day, reverse=True):
            start = start_of(session.whose.attempt)
            if start and start >= since:
                others = last.setdefault(start, [])
                if not others or others[0].entry.day == session.entry.day:
                    others.append(session)
        reading = TelemetryReader(self.telemetry.stores.telemetry)
        oldest = await self.telemetry.clock.now() - self.telemetry.minutes
        latest = sorted(last, reverse=True)[:MAX_ATTEMPTS]
        parts = [_part(session, start, wanted, oldest) for start in latest for session in last[start]]
        await some_at_once(reading.add, parts, _PARTS_AT_ONCE)
        return ended_attempts(merged((reading.measured.hours, reading.measured.minutes)), since)


def _part(session: NodeSession, start: datetime, wanted: Range, oldest: datetime) -> Part:
    """Returns the hours of a session's last day in which its attempt may have ended."""
    day, (_, last) = session.entry.day * HOURS_A_DAY, wanted.hours
    first = max(day, to_milliseconds(start) // _HOUR_MILLISECONDS)
    may_have_hours = start < oldest or session.entry.has_hours
    keys = {session.entry.session_key}
    end = max(first, min(day + HOURS_A_DAY - 1, last))
    return Part(
        session.entry.rows.partition, keys, first, end, selector_of(NAMES, None), MINUTES_AN_HOUR, may_have_hours
    )
