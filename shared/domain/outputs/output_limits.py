"""Limits of keeping outputs: how long, and how many tasks a minute and bytes a day are read of an account's nodes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.files.file_parts import CELL, CONTEXT
from shared.domain.outputs.kept_outputs import STREAMS, TAIL

MAX_READ = len(STREAMS) * (TAIL + CELL + CONTEXT)
"""Bytes that are read of one task at most: its tails, and what secrets are recognised by."""
MAX_TRIES = 6
"""Reads of a task that may fail before it isn't tried again."""
_MINUTE, _DAY = 60_000, 86_400_000  # milliseconds


@dataclass(frozen=True, slots=True)
class OutputRate:
    """How much may be read of one account's nodes."""

    bytes_a_day: int
    tasks_a_minute: int


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """Limits by account id, and "" for all others; `days` and `of_each` also by `account/pool` in lower case.

    `of_each` are the numbers of tasks that are kept of each failure group and each node.
    """

    days: Mapping[str, timedelta]
    bytes_a_day: Mapping[str, int]
    tasks_a_minute: Mapping[str, int]
    of_each: Mapping[str, int]

    @property
    def keeps_any(self) -> bool:
        return any(self.days.values())

    def rate(self, account_id: str) -> OutputRate:
        """Returns how much may be read of an account's nodes."""
        each_day, each_minute = self.bytes_a_day, self.tasks_a_minute
        return OutputRate(each_day.get(account_id, each_day[""]), each_minute.get(account_id, each_minute[""]))

    def kept_for(self, account_id: str, pool_id: str) -> timedelta:
        """Returns how long outputs of a pool's tasks are kept, none at all for zero."""
        return _of_pool(self.days, account_id, pool_id)

    def each(self, account_id: str, pool_id: str) -> int:
        """Returns how many tasks are kept of each failure group and each node of a pool."""
        return _of_pool(self.of_each, account_id, pool_id) if self.kept_for(account_id, pool_id) else 0


def _of_pool[T](limits: Mapping[str, T], account_id: str, pool_id: str) -> T:
    names = (f"{account_id}/{key_of(pool_id)}", account_id, "")
    return next(limits[name] for name in names if name in limits)


@dataclass(frozen=True, slots=True)
class SpentOutputs:
    """What an account's limits have spent: `read` bytes on a `day` since 1970, `tasks` in a `minute`; with its ETag."""

    day: int = 0
    read: int = 0
    minute: int = 0
    tasks: int = 0
    etag: str | None = None

    def at(self, now: datetime) -> "SpentOutputs":
        """Returns the same as of now: another day, or minute, begins with nothing; a faster host may have begun it."""
        day, minute = to_milliseconds(now) // _DAY, to_milliseconds(now) // _MINUTE
        read, tasks = self.read if self.day - day in (0, 1) else 0, self.tasks if self.minute - minute in (0, 1) else 0
        return SpentOutputs(self.day if read else day, read, self.minute if tasks else minute, tasks, self.etag)

    def room(self, rate: OutputRate) -> int:
        """Returns for how many tasks there is room."""
        return max(0, min(rate.tasks_a_minute - self.tasks, (rate.bytes_a_day - self.read) // MAX_READ))

    def plus(self, *, tasks: int, read: int) -> "SpentOutputs":
        return replace(self, tasks=self.tasks + tasks, read=max(0, self.read + read))


def numbers_by_place(
    text: str, accounts: Collection[str], default: int, *, low: int, high: int, has_pools: bool
) -> dict[str, int]:
    """Returns numbers by name as settings have them: `30, demo=7, demo/secret=0`. Raises ValueError."""
    numbers = {"": default}
    for entry in text.replace(",", " ").split():
        name, sign, number = entry.rpartition("=")
        account, slash, pool = name.lower().partition("/")
        if (
            not number.isdecimal()
            or not low <= int(number) <= high
            or bool(sign) != bool(account)
            or bool(slash) != bool(pool)
            or (pool and not has_pools)
        ):
            places = "ACCOUNT=NUMBER or ACCOUNT/POOL=NUMBER" if has_pools else "or ACCOUNT=NUMBER"
            raise ValueError(f"'{entry}' is not a number from {low} to {high}, {places}")
        if account and account not in accounts:
            raise ValueError(f"'{account}' is none of the watched accounts")
        numbers[f"{account}/{key_of(pool)}" if pool else account] = int(number)
    return numbers
