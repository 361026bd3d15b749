"""The table `jobschedules`: one row per job schedule, by account; and each account's row `schedules` in `accounts`."""

from collections.abc import Sequence

from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.schedules import Schedule
from shared.errors import CacheConflictError
from shared.stores.resources import KnownResources, ResourceStore
from shared.stores.tables.tables import Tables
from shared.stores.tables.unreadable import UndecodedRow

type KnownSchedules = KnownResources[Schedule, ScheduleRound]


class ScheduleStore(ResourceStore[Schedule, ScheduleRound]):
    """Forgets the cache with each write, as not only rounds delete schedules."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(
            tables,
            "jobschedules",
            Schedule,
            ScheduleRound,
            round_row="schedules",
            column="schedule",
            noun="job schedule",
        )

    async def save_all(self, account_key: str, resources: Sequence[Schedule]) -> list[Schedule | CacheConflictError]:
        self.forget(account_key)
        return await super().save_all(account_key, resources)

    async def delete(self, account_key: str, resource: Schedule) -> None:
        self.forget(account_key)
        await super().delete(account_key, resource)

    async def delete_unreadable(self, account_key: str, row: UndecodedRow) -> None:
        self.forget(account_key)
        await super().delete_unreadable(account_key, row)
