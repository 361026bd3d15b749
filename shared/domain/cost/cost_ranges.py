"""The days that a question about costs concerns, its steps of hours or whole days, and which days are full."""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.usage_days import DAY
from shared.errors import HistoryRangeError

MAX_DAYS, MAX_HOURLY_DAYS = 400, 7
_DEFAULT_DAYS = 30
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class CostRange:
    """Whole days (UTC) since 1970, and the length of steps: an hour, or whole days from the first day on."""

    days: range
    step: timedelta = _DAY

    @property
    def hourly(self) -> bool:
        return self.step < _DAY

    @property
    def since(self) -> datetime:
        return from_milliseconds(self.days.start * DAY)

    @property
    def until(self) -> datetime:
        return from_milliseconds(self.days.stop * DAY)

    def step_of(self, moment: datetime) -> datetime:
        """Returns the start of the step in which a time of the range is."""
        return moment - (moment - self.since) % self.step

    def end_of(self, start: datetime) -> datetime:
        """Returns the end of the step that begins at `start`; the last one ends with the range."""
        left = self.until - start
        return start + min(self.step, left)

    def missing_from(self, stored: Container[int]) -> list[int]:
        """Returns the days of the range that aren't among the stored ones."""
        return [day for day in self.days if day not in stored]


def full_days(known: Container[int], last: range) -> list[int]:
    """Returns the days of a range that were watched from their begin on: those after a day with known usage.

    The range ends before today. A day after one without usage may have been watched in part.
    """
    return [day for day in last if day in known and day - 1 in known]


def cost_range(since: datetime | None, until: datetime | None, step: timedelta | None, now: datetime) -> CostRange:
    """Returns the days that a request concerns, by default the last ones up to today. Raises HistoryRangeError."""
    step = _DAY if step is None else step
    if step != _HOUR and (step < _DAY or step % _DAY):
        raise HistoryRangeError("A step of costs is an hour or whole days, such as PT1H, P1D or P7D.", target="step")
    most = MAX_HOURLY_DAYS if step == _HOUR else MAX_DAYS
    end = to_milliseconds(now) // DAY + 1
    last = min(-(-to_milliseconds(until) // DAY), end) if until else end
    first = to_milliseconds(since) // DAY if since else last - min(_DEFAULT_DAYS, most)
    if first >= last or (since and until and since >= until):
        raise HistoryRangeError(
            "The range begins after it ends, or in the future: take an earlier 'from'.", target="from"
        )
    if last <= 0:
        raise HistoryRangeError("The range ends before 1970.", target="to")
    if last - first > most:
        raise HistoryRangeError(
            f"The range has {last - first:,} days, and with this step it may have {most}: take a later 'from'.",
            target="from",
        )
    return CostRange(range(max(first, 0), last), step)
