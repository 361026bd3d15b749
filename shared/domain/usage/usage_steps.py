"""Node seconds of a range in steps of whole hours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.usage.billing_classes import BILLED, CLASSES, BillingClass
from shared.domain.usage.usage_ledger import HOUR, UsageHours, first_kept
from shared.errors import HistoryRangeError

_HOUR = timedelta(hours=1)
_DAY_HOURS = 24


@dataclass(frozen=True, slots=True)
class UsageRange:
    """Whole hours since 1970 from `first` to before `last`, in steps of `step` hours; the last one may be shorter."""

    first: int
    last: int
    step: int

    @property
    def starts(self) -> range:
        """The hours in which steps begin."""
        return range(self.first, self.last, self.step)

    def end_of(self, start: int) -> int:
        return min(start + self.step, self.last)


@dataclass(frozen=True, slots=True)
class UsageStep:
    """Milliseconds of nodes by class within a step, of dedicated nodes (True) and of spot ones."""

    since: datetime
    until: datetime
    amounts: Mapping[tuple[bool, BillingClass], int]

    def of_kind(self, *, dedicated: bool) -> dict[BillingClass, int]:
        """Returns the classes of a kind of nodes with any time, in the order of all classes."""
        return {name: amount for name in CLASSES if (amount := self.amounts.get((dedicated, name), 0))}

    def billed(self, *, dedicated: bool) -> int:
        return sum(self.amounts.get((dedicated, name), 0) for name in BILLED)


def usage_range(since: datetime | None, until: datetime | None, step: timedelta | None, now: datetime) -> UsageRange:
    """Returns a requested range in whole hours, within what ledgers keep; by default today (UTC) in steps of an hour.

    Raises HistoryRangeError.
    """
    at = to_milliseconds(now)
    today = at // HOUR // _DAY_HOURS * _DAY_HOURS
    first = today if since is None else to_milliseconds(since) // HOUR
    last = -(-at // HOUR) if until is None else -(-to_milliseconds(until) // HOUR)
    if until is not None and since is None and last <= first:
        raise HistoryRangeError("to is before today: give from, too.", target="to")
    if since is not None and until is not None and since >= until:
        raise HistoryRangeError("to must be later than from.", target="to")
    hours = _HOUR if step is None else step
    if hours < _HOUR or hours % _HOUR:
        raise HistoryRangeError("step must be whole hours, like PT1H or P1D.", target="step")
    end = today + _DAY_HOURS
    first = min(max(first, first_kept(at) // HOUR), end)
    return UsageRange(first, max(min(last, end), first), hours // _HOUR)


def usage_steps(wanted: UsageRange, hours: UsageHours) -> list[UsageStep]:
    """Returns the steps of a range, in order."""
    found: dict[int, dict[tuple[bool, BillingClass], int]] = {start: {} for start in wanted.starts}
    for hour, amounts in hours.items():
        if wanted.first <= hour < wanted.last:
            step = found[hour - (hour - wanted.first) % wanted.step]
            for kind, amount in amounts.items():
                key = (kind.dedicated, kind.billing_class)
                step[key] = step.get(key, 0) + amount
    return [UsageStep(_moment(start), _moment(wanted.end_of(start)), sums) for start, sums in found.items()]


def usage_total(wanted: UsageRange, steps: Iterable[UsageStep]) -> UsageStep:
    """Returns the steps of a range as one."""
    found: dict[tuple[bool, BillingClass], int] = {}
    for step in steps:
        for kind, amount in step.amounts.items():
            found[kind] = found.get(kind, 0) + amount
    return UsageStep(_moment(wanted.first), _moment(wanted.last), found)


def _moment(hour: int) -> datetime:
    return from_milliseconds(hour * HOUR)
