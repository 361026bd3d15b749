"""The table `jobschedules`: one row per job schedule, by account; and each account's row `schedules` in `accounts`."""

from collections.abc import Sequence

from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.schedules import Schedule
from shared.errors import CacheConflictError
from shared.stores.resources import KnownResources, ResourceStore

type KnownSchedules = KnownResources[Schedule, ScheduleRound]


class ScheduleStore(ResourceStore[Schedule, ScheduleRound]):
    table = "jobschedules"
    kind = Schedule
    round_kind = ScheduleRound
    round_row = "schedules"
    column = "schedule"
    noun = "job schedule"

    async def save_all(self, account_key: str, resources: Sequence[Schedule]) -> list[Schedule | CacheConflictError]:
        self.forget(account_key)
        return await super().save_all(account_key, resources)
