"""The table `jobschedules`: one row per job schedule, by account; and each account's row `schedules` in `accounts`."""

from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.schedules.schedules import Schedule
from shared.stores.resources import KnownResources, ResourceStore

type KnownSchedules = KnownResources[Schedule, ScheduleRound]


class ScheduleStore(ResourceStore[Schedule, ScheduleRound]):
    table = "jobschedules"
    kind = Schedule
    round_kind = ScheduleRound
    round_row = "schedules"
    column = "schedule"
    noun = "job schedule"
