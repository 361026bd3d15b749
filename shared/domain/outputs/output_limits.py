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
_MAX_DAYS = 3_650


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """`days` are by account id or `account/pool` in lower case, and "" for all others."""

    days: Mapping[str, timedelta]
    bytes_a_day: int
    tasks_a_minute: int

    @property
    def keeps_any(self) -> bool:
        return any(self.days.values())

    def kept_for(self, account_id: str, pool_id: str) -> timedelta:
        """Returns how long outputs of a pool's tasks are kept, none at all for zero."""
        names = (f"{account_id}/{key_of(pool_id)}", account_id, "")
        return next(self.days[name] for name in names if name in self.days)


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

    def room(self, limits: OutputLimits) -> int:
        """Returns for how many tasks there is room."""
        return max(0, min(limits.tasks_a_minute - self.tasks, (limits.bytes_a_day - self.read) // MAX_READ))

    def plus(self, *, tasks: int, read: int) -> "SpentOutputs":
        return replace(self, tasks=self.tasks + tasks, read=max(0, self.read + read))


def days_of_outputs(text: str, accounts: Collection[str], default: timedelta) -> dict[str, timedelta]:
    """Returns days by name as the setting OUTPUT_DAYS has them: `30, demo=7, demo/secret=0`. Raises ValueError."""
    days = {"": default}
    for entry in text.replace(",", " ").split():
        name, sign, number = entry.rpartition("=")
        account, slash, pool = name.lower().partition("/")
        if (
            not number.isdecimal()
            or int(number) > _MAX_DAYS
            or bool(sign) != bool(account)
            or bool(slash) != bool(pool)
        ):
            raise ValueError(f"'{entry}' is not a number of days up to {_MAX_DAYS}, ACCOUNT=DAYS or ACCOUNT/POOL=DAYS")
        if account and account not in accounts:
            raise ValueError(f"'{account}' is none of the watched accounts")
        days[f"{account}/{key_of(pool)}" if pool else account] = int(number) * timedelta(days=1)
    return days
