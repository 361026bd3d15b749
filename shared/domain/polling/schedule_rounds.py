"""A poll of an account's job schedules: when one is due, its result, and the verdict on a schedule.

The list has all properties of every schedule at one time, so it needs no comparison.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import ClassVar

from shared.domain.core.stored_times import is_over
from shared.domain.jobs.verdicts import OVERTAKEN, Level, Verdict, at_second, stale_reason
from shared.domain.polling.resource_rounds import ResourceRound
from shared.domain.schedules.schedules import Schedule


@dataclass(frozen=True, slots=True)
class ScheduleRound(ResourceRound[str]):
    """The last poll of an account's schedules, as stored in its row.

    `as_of` is the date of the last complete list. `confirmations` are the versions of schedules, by key, that hold as
    of then. `states` counts the schedules that aren't deleted, by state. `held` are schedules on which this poll has no
    result, or another one than a concurrent poll: the version that held, and as of when.
    """

    failed_part: ClassVar[str] = "job schedule{} couldn't be read"

    states: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, tuple[str, datetime]] = field(default_factory=dict)

    def as_of_schedule(self, schedule: Schedule) -> datetime:
        """Returns the time as of which a schedule was last known, even before an overlapping poll wrote its row."""
        written = max(schedule.seen_at, schedule.written_as_of or schedule.seen_at)
        held = self._holding(schedule.key)
        return max(held[1], written) if held else written

    def is_overtaken(self, schedule: Schedule) -> bool:
        """Returns whether a poll with an older list overwrote a version that another poll had confirmed meanwhile."""
        written = schedule.written_as_of or schedule.seen_at
        held = self._holding(schedule.key)
        return held is not None and held[1] > written and held[0] != schedule.version

    def failure_of(self, key: str, as_of: datetime | None = None) -> str | None:  # noqa: ARG002 - the list reaches all
        """Returns why a schedule isn't up to date: its own failure, or that of the last poll."""
        return self.failures.get(key) or self.reason

    def merged(self, stored: "ScheduleRound") -> "ScheduleRound":
        """Merges this poll with one that another process stored meanwhile: the later list wins.

        The versions that the earlier poll held are kept.
        """
        is_late = stored.as_of is not None and (self.as_of is None or self.as_of < stored.as_of)
        later, earlier = (stored, self) if is_late else (self, stored)
        held = dict(later.held)
        for key, (version, as_of) in earlier.holding().items():
            if key not in held or held[key][1] < as_of:
                held[key] = version, as_of
        return replace(later, held=held, etag=stored.etag)

    def _holding(self, key: str) -> tuple[str, datetime] | None:
        """Returns the version of a schedule that holds, and as of when."""
        if self.as_of and key in self.confirmations:
            return self.confirmations[key], self.as_of
        return self.held.get(key)

    def holding(self) -> dict[str, tuple[str, datetime]]:
        """Returns the versions that hold, each with its time, by key."""
        as_of = self.as_of
        confirmed = {key: (version, as_of) for key, version in self.confirmations.items()} if as_of else {}
        return {**self.held, **confirmed}


def poll_is_due(last: ScheduleRound | None, schedules: Collection[Schedule], now: datetime, *, idle: timedelta) -> bool:
    """Returns True where a schedule may change, or the last poll failed or didn't reach all; else after `idle`."""
    if last is None or last.problem or any(schedule.is_live for schedule in schedules):
        return True
    if any(not schedule.deleted and schedule.key not in last.confirmations for schedule in schedules):
        return True
    return is_over(last.started_at, idle, now)


def schedule_verdict(
    schedule: Schedule,
    last: ScheduleRound | None,
    *,
    now: datetime,
    interval: timedelta,
    off_reason: str | None = None,
) -> Verdict:
    """Returns the verdict on a schedule's properties; `interval` is the time between two polls.

    `off_reason` is a sentence on since when the account isn't watched, None while it is.
    """
    as_of = last.as_of_schedule(schedule) if last else schedule.seen_at
    level, reason = _judged(schedule, last, as_of=as_of, now=now, interval=interval)
    if off_reason and not schedule.deleted:
        level, reason = "stale", off_reason
    return Verdict(as_of, "fullRead", level, reason, as_of)


def _judged(
    schedule: Schedule, last: ScheduleRound | None, *, as_of: datetime, now: datetime, interval: timedelta
) -> tuple[Level, str]:
    if schedule.deleted:
        return "unverified", "The schedule was deleted; these are its last known facts."
    failure = last.failure_of(schedule.key) if last else None
    if stale := stale_reason(failure, age=now - as_of, interval=interval):
        return "stale", stale
    if last and last.is_overtaken(schedule):
        return "unverified", OVERTAKEN
    return "exact", f"As of {at_second(as_of)}, it was read with the list of job schedules."
