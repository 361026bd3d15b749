"""The table `jobschedules`: one row per job schedule, by account; and each account's row `schedules` in `accounts`.

The second row is written last after each list of schedules, with those that hold as stored. While a process's own row
is the last there, it knows all schedules of the account without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.schedules import Schedule
from shared.errors import CacheConflictError
from shared.stores.accounts.resource_rounds import ResourceRoundStore
from shared.stores.tables.tables import Row, Tables, delete_row, json_columns, json_of, load_row, load_rows
from shared.stores.tables.unit_writes import write_units, written
from shared.stores.tables.unreadable import UndecodedRow, decoded_rows, decoding, schema_of


@dataclass(frozen=True, slots=True)
class KnownSchedules:
    """The last poll of an account's schedules (None before the first), and these by key, also deleted ones."""

    last: ScheduleRound | None
    schedules: Mapping[str, Schedule]
    unreadable: Mapping[str, UndecodedRow] = field(default_factory=dict)


class ScheduleStore:
    def __init__(self, tables: Tables) -> None:
        self._schedules = tables["jobschedules"]
        self._rounds = ResourceRoundStore(tables, "schedules", ScheduleRound, what="job schedules")
        self._known: dict[str, KnownSchedules] = {}

    async def load_known(self, account_key: str) -> KnownSchedules:
        """Returns stored schedules, from memory if the poll's row shows that this process wrote it last."""
        known, last = self._known.get(account_key), await self.load_round(account_key)
        if known and last and known.last and known.last.etag == last.etag:
            return known
        return await self._load_all(account_key, last)

    async def load_all(self, account_key: str) -> KnownSchedules:
        """Returns every schedule from storage. The round is read first, so that its confirmations aren't newer."""
        return await self._load_all(account_key, await self.load_round(account_key))

    async def _load_all(self, account_key: str, last: ScheduleRound | None) -> KnownSchedules:
        found, unreadable = decoded_rows(await load_rows(self._schedules, account_key), _schedule)
        return KnownSchedules(last, found, unreadable)

    async def load(self, account_key: str, schedule_id: str) -> tuple[ScheduleRound | None, Schedule | None]:
        """Returns one schedule, with the last poll of all; `schedule_id` may be any client string."""
        last = await self.load_round(account_key)
        row = await load_row(self._schedules, account_key, key_of(schedule_id))
        return last, _schedule(row) if row else None

    async def load_round(self, account_key: str) -> ScheduleRound | None:
        return await self._rounds.load(account_key)

    async def save_all(self, account_key: str, schedules: Sequence[Schedule]) -> list[Schedule | CacheConflictError]:
        """Writes schedules under their ETags, or new ones if these are None; returns each with its new ETag.

        A schedule that another writer changed meanwhile is replaced by the conflict. Raises StorageError.
        """
        self.forget(account_key)
        units = [(written(_row(account_key, schedule), schedule.etag),) for schedule in schedules]
        ends = await write_units(self._schedules, units)
        return [
            end if isinstance(end, CacheConflictError) else replace(schedule, etag=end[schedule.key])
            for schedule, end in zip(schedules, ends, strict=True)
        ]

    async def delete(self, account_key: str, key: str, etag: str | None) -> None:
        """Deletes a schedule's row if it is unchanged since it was loaded. Raises CacheConflictError."""
        self.forget(account_key)
        await delete_row(self._schedules, account_key, key, etag or "")

    async def save_round(self, account_key: str, done: ScheduleRound, schedules: Mapping[str, Schedule] | None) -> None:
        """Writes the results of a poll and caches its schedules (None: uncertain).

        If another process polled meanwhile, the later list stays. Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        stored, is_ours = await self._rounds.save(account_key, done)
        if is_ours and schedules is not None:
            self._known[account_key] = KnownSchedules(stored, schedules)

    def forget(self, account_key: str) -> None:
        """Drops the cache: the next poll reads storage."""
        self._known.pop(account_key, None)


def _row(account_key: str, schedule: Schedule) -> Row:
    whole = json_columns("schedule", msgspec.to_builtins(replace(schedule, etag=None)))
    keys = {"PartitionKey": account_key, "RowKey": schedule.key}
    return {**keys, **schema_of("job schedule"), "id": schedule.facts.id, **whole}


def _schedule(row: Row) -> Schedule:
    """Raises UnreadableError."""
    with decoding(row, "job schedule", kind="job schedule"):
        return replace(msgspec.convert(json_of(row, "schedule"), Schedule), etag=row["etag"])
