"""Errors of a pool's resizes: current while the latest list of pools tells them of the same attempt, stale since."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

MOST_STALE_ERRORS = 10


@dataclass(frozen=True, slots=True)
class ResizeError:
    """An error of a resize; `ended_at` is when the attempt that it belongs to ended, by the service.

    `first_seen` and `last_seen` are dates of lists of pools; `last_seen` is None while it is current: told by the
    latest list.
    """

    code: str
    message: str
    ended_at: datetime | None
    first_seen: datetime
    last_seen: datetime | None = None

    @property
    def is_current(self) -> bool:
        return self.last_seen is None


def errors_after(
    before: tuple[ResizeError, ...],
    told: Iterable[tuple[str, str]],
    *,
    ended: datetime | None,
    at: datetime,
    last_looked: datetime,
) -> tuple[ResizeError, ...]:
    """Errors after a list of pools: what it doesn't tell, or tells of another attempt, is stale from then on.

    `told` are codes and messages of the attempt that `ended` then.
    """
    same = {(e.code, e.message): e for e in before if e.is_current and e.ended_at == ended}
    current = [same.get(name) or ResizeError(*name, ended, first_seen=at) for name in dict.fromkeys(told)]
    stale = [
        replace(error, last_seen=last_looked) if error.is_current else error for error in before if error not in current
    ]
    stale.sort(key=lambda error: error.last_seen or at, reverse=True)
    return (*current, *stale[:MOST_STALE_ERRORS])
