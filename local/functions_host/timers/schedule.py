"""Due times of timers: NCRONTAB ({second} {minute} {hour} {day} {month} {day of week}, all must match) or a TimeSpan.

Pure. Times are aware UTC datetimes. A malformed schedule, or one that never occurs, is a ValueError.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import starmap

from local.functions_host.app.settings import time_span

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_HORIZON = timedelta(days=366 * 8 + 2)  # the next 29th of February can be 8 years off


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def parse(self, text: str) -> frozenset[int]:
        return frozenset().union(*(self._item(item) for item in text.split(",")))

    def _item(self, item: str) -> range:
        body, slash, step = item.partition("/")
        if body == "*":
            first, last = self.low, self.high
        elif "-" in body:
            first, last = (self._number(part) for part in body.split("-", 1))
        else:
            first = self._number(body)
            last = self.high if slash else first
        stride = _whole(step) if slash else 1
        if first > last or stride < 1:
            raise ValueError(f"'{item}' isn't a {self.name}")
        return range(first, last + 1, stride)

    def _number(self, token: str) -> int:
        if token.lower()[:3] in self.names:
            return self.names.index(token.lower()[:3]) + self.low
        if not self.low <= (value := _whole(token)) <= self.high:
            raise ValueError(f"{token} isn't a {self.name} ({self.low} to {self.high})")
        return value


_FIELDS = (
    _Field("second", 0, 59),
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day of week", 0, 6, _DAYS),
)


@dataclass(frozen=True, slots=True)
class CronSchedule:
    text: str
    seconds: frozenset[int]
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    def next_after(self, moment: datetime) -> datetime:
        """Returns the first due time after `moment`; raises ValueError if there is none."""
        at = moment.replace(microsecond=0) + timedelta(seconds=1)
        limit = at + _HORIZON
        while at < limit:
            later = self._skip(at)
            if later == at:
                return at
            at = later
        raise ValueError(f"'{self.text}' never occurs")

    def _skip(self, at: datetime) -> datetime:
        """Returns `at` if it is due, else the start of the next month, day, hour, minute or second that may be."""
        if at.month not in self.months:
            return (at.replace(day=1, hour=0, minute=0, second=0) + timedelta(days=32)).replace(day=1)
        if at.day not in self.days or at.isoweekday() % 7 not in self.weekdays:
            return at.replace(hour=0, minute=0, second=0) + timedelta(days=1)
        if at.hour not in self.hours:
            return at.replace(minute=0, second=0) + timedelta(hours=1)
        if at.minute not in self.minutes:
            return at.replace(second=0) + timedelta(minutes=1)
        return at if at.second in self.seconds else at + timedelta(seconds=1)

    @property
    def monitored(self) -> bool:
        """Whether the last run is stored: Azure does so only for timers that fire at most once a minute."""
        return len(self.seconds) == 1


@dataclass(frozen=True, slots=True)
class IntervalSchedule:
    period: timedelta

    def next_after(self, moment: datetime) -> datetime:
        return moment + self.period

    @property
    def monitored(self) -> bool:
        return self.period >= timedelta(minutes=1)


type Schedule = CronSchedule | IntervalSchedule


def parse_schedule(text: str) -> Schedule:
    parts = text.split()
    if len(parts) == 1 and ":" in text:
        period = time_span(text)
        if not period:
            raise ValueError("a period of nothing never ends")
        return IntervalSchedule(period)
    if len(parts) == len(_FIELDS) - 1:
        parts = ["0", *parts]
    if len(parts) != len(_FIELDS):
        raise ValueError(f"'{text}' has {len(parts)} fields; NCRONTAB has 6 (or 5, without seconds)")
    cron = CronSchedule(text, *starmap(_Field.parse, zip(_FIELDS, parts, strict=True)))
    cron.next_after(datetime(2024, 1, 1, tzinfo=UTC))
    return cron


def _whole(token: str) -> int:
    if not (token.isascii() and token.isdecimal()):
        raise ValueError(f"'{token}' isn't a number")
    return int(token)
