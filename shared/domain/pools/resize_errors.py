"""Errors of a pool's resizes: reported while the latest list of pools shows them for the last attempt, else stale.

An error that ends attempt after attempt is a single lasting one, dated from when it was first seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

MAX_STALE_ERRORS = 10


@dataclass(frozen=True, slots=True)
class ResizeError:
    """An error of a resize; `ended_at` is when the latest attempt with it ended, according to the service.

    `first_seen` and `last_seen` are dates of lists of pools; `last_seen` is None while it is in the latest list.
    `attempts` counts those seen to end with it; `retried_at` is when the attempt after them began. `satisfied_at` is
    the date of the first list since the latest attempt in which the pool lacked no nodes: the error is history since
    then. The latter three aren't in its repr, which a pool's version covers, because they never change alone.
    """

    code: str
    message: str
    ended_at: datetime | None
    first_seen: datetime
    last_seen: datetime | None = None
    attempts: int = field(default=1, repr=False)
    retried_at: datetime | None = field(default=None, repr=False)
    satisfied_at: datetime | None = field(default=None, repr=False)

    @property
    def is_reported(self) -> bool:
        return self.last_seen is None

    @property
    def is_current(self) -> bool:
        """True while Batch reports it and the pool has lacked nodes in every list since its attempt."""
        return self.is_reported and self.satisfied_at is None

    @property
    def name(self) -> tuple[str, str]:
        return self.code, self.message

    def ended_again(self, ended: datetime | None) -> "ResizeError":
        """Returns the error after the attempt that `ended` then, which may be the one that it is known from."""
        more = not self.is_reported or self.ended_at != ended
        return replace(self, ended_at=ended, last_seen=None, attempts=self.attempts + more, retried_at=None)

    def ended(self, last_looked: datetime, began: datetime | None) -> "ResizeError":
        """Returns the error as stale; the attempt begun `began` repeats its own, unless it was history."""
        if self.satisfied_at:
            return replace(self, last_seen=self.satisfied_at)
        return replace(self, last_seen=last_looked, retried_at=began)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A resize as a list of pools shows it: its errors, and `since` when it has been running, or over."""

    since: datetime | None
    goes_on: bool
    told: tuple[tuple[str, str], ...]

    @property
    def began(self) -> datetime | None:
        """The start of the attempt, None where it is over."""
        return self.since if self.goes_on else None


def errors_after(
    errors: tuple[ResizeError, ...], attempt: Attempt, before: Attempt | None, *, at: datetime, last_looked: datetime
) -> tuple[ResizeError, ...]:
    """Returns the errors after a list of pools showed an attempt; one that recurs in consecutive attempts stays one.

    Errors that are no longer shown become stale, and one that was history begins anew with another attempt. `before` is
    the attempt in the previous list, None without one.
    """
    began = before.began if before else None
    lasting = {
        e.name: e
        for e in errors
        if e.is_current or (e.is_reported and e.ended_at == attempt.since) or (began and e.retried_at == began)
    }
    names = dict.fromkeys(attempt.told)
    current = [
        lasting[name].ended_again(attempt.since)
        if name in lasting
        else ResizeError(*name, attempt.since, first_seen=at)
        for name in names
    ]
    left = [error for error in errors if error.name not in names or lasting.get(error.name) is not error]
    stale = _merged((e.ended(last_looked, attempt.began) if e.is_reported else e for e in left), attempt.began)
    stale.sort(key=lambda error: error.last_seen or at, reverse=True)
    return (*current, *stale[:MAX_STALE_ERRORS])


def satisfied(errors: Iterable[ResizeError], at: datetime) -> tuple[ResizeError, ...]:
    """Returns the errors after a list of pools dated `at` showed the pool without missing nodes."""
    return tuple(replace(error, satisfied_at=at) if error.is_current else error for error in errors)


def _merged(stale: Iterable[ResizeError], began: datetime | None) -> list[ResizeError]:
    """Returns one stale error per code and message, merged, and one that the attempt begun `began` may end with.

    Copies would displace other errors.
    """
    found: dict[object, ResizeError] = {}
    for error in stale:
        kind = error.name, began is not None and error.retried_at == began
        other = found.get(kind)
        if other is None:
            found[kind] = error
            continue
        latest = max(other, error, key=lambda each: each.last_seen or each.first_seen)
        first_seen = min(other.first_seen, error.first_seen)
        found[kind] = replace(latest, first_seen=first_seen, attempts=other.attempts + error.attempts)
    return list(found.values())
