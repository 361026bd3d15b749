"""The table `jobschedules`: a row a job schedule, by account; and the row `schedules` of each account in `accounts`.

That second row is written after each list of schedules, last, and says which hold as they are stored. So a process
whose own word is still the last one there knows all schedules of the account without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.schedules import Schedule
from shared.errors import CacheConflictError
from shared.stores.accounts.look_rounds import LookRounds
from shared.stores.tables.schemas import schema_of
from shared.stores.tables.tables import Row, Tables, delete_row, json_columns, json_of, load_row, load_rows
from shared.stores.tables.unit_writes import write_units, written
from shared.stores.tables.unreadable import Unreadable, read, told_apart


@dataclass(frozen=True, slots=True)
class KnownSchedules:
    """The last look at an account's schedules (None before the first), and these by key, deleted ones too."""

    last: ScheduleRound | None
    schedules: Mapping[str, Schedule]
    unreadable: Mapping[str, Unreadable] = field(default_factory=dict)


class ScheduleStore:
    def __init__(self, tables: Tables) -> None:
        self._schedules = tables["jobschedules"]
        self._rounds = LookRounds(tables, "schedules", ScheduleRound, what="job schedules")
        self._known: dict[str, KnownSchedules] = {}

    async def load_known(self, account_key: str) -> KnownSchedules:
        """As storage has it: the schedules from memory where this process wrote the last look, as its row tells."""
        known, last = self._known.get(account_key), await self.load_round(account_key)
        if known and last and known.last and known.last.etag == last.etag:
            return known
        return await self._load_all(account_key, last)

    async def load_all(self, account_key: str) -> KnownSchedules:
        """Every schedule of an account as storage has it. The round is read first: what it confirms can't be newer."""
        return await self._load_all(account_key, await self.load_round(account_key))

    async def _load_all(self, account_key: str, last: ScheduleRound | None) -> KnownSchedules:
        found, unreadable = told_apart(await load_rows(self._schedules, account_key), _schedule)
        return KnownSchedules(last, found, unreadable)

    async def load(self, account_key: str, schedule_id: str) -> tuple[ScheduleRound | None, Schedule | None]:
        """One schedule, with the last look at all; `schedule_id` may be anything that a client sent."""
        last = await self.load_round(account_key)
        row = await load_row(self._schedules, account_key, key_of(schedule_id))
        return last, _schedule(row) if row else None

    async def load_round(self, account_key: str) -> ScheduleRound | None:
        return await self._rounds.load(account_key)

    async def save_all(self, account_key: str, schedules: Sequence[Schedule]) -> list[Schedule | CacheConflictError]:
        """Writes schedules as they were loaded, new ones where their ETag is None; gives each with its new ETag.

        In place of one that another writer changed meanwhile it gives the conflict. Raises StorageError.
        """
        self.forget(account_key)
        units = [(written(_row(account_key, schedule), schedule.etag),) for schedule in schedules]
        ends = await write_units(self._schedules, units)
        return [
            end if isinstance(end, CacheConflictError) else replace(schedule, etag=end[schedule.key])
            for schedule, end in zip(schedules, ends, strict=True)
        ]

    async def delete(self, account_key: str, key: str, etag: str | None) -> None:
        """Forgets a schedule, if its row still is as it was loaded. Raises CacheConflictError."""
        self.forget(account_key)
        await delete_row(self._schedules, account_key, key, etag or "")

    async def save_round(self, account_key: str, done: ScheduleRound, schedules: Mapping[str, Schedule] | None) -> None:
        """Writes what a look found and remembers its schedules (None: they aren't known for sure).

        Where another process looked meanwhile, the later list stays. Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        stored, is_ours = await self._rounds.save(account_key, done)
        if is_ours and schedules is not None:
            self._known[account_key] = KnownSchedules(stored, schedules)

    def forget(self, account_key: str) -> None:
        """The next look reads storage."""
        self._known.pop(account_key, None)


def _row(account_key: str, schedule: Schedule) -> Row:
    whole = json_columns("schedule", msgspec.to_builtins(replace(schedule, etag=None)))
    keys = {"PartitionKey": account_key, "RowKey": schedule.key}
    return {**keys, **schema_of("job schedule"), "id": schedule.facts.id, **whole}


def _schedule(row: Row) -> Schedule:
    """Raises UnreadableError."""
    parsed = read(
        row, "job schedule", lambda row: msgspec.convert(json_of(row, "schedule"), Schedule), kind="job schedule"
    )
    return replace(parsed, etag=row["etag"])
