"""The ninety days of an account's usage before today for `bench api`, as hourly roll-ups write it.

Sixty pools with nodes of two kinds, and two thousand jobs: each runs for nine days on two pools.
"""

import time
from zlib import crc32

from azure.core.pipeline.transport import AioHttpTransport

from shared.domain.cost.busy_nodes import Outcome
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.stores.tables.tables import Tables
from shared.stores.usage_days import Part, UsageDayStore

DAYS, POOLS, JOBS = 90, 60, 2000
_DAYS_OF_JOB = 9
_ACCOUNT = "demo"
_KINDS = (NodeKind("standard_d4s_v5", dedicated=True), NodeKind("standard_d4s_v5", dedicated=False))
_HOUR = 3_600_000  # milliseconds
_POOL_CLASSES = ("succeeded", "failed", "interrupted", "idleSlots", "idle", "starting", "startTask", "unattributed")
_OUTCOMES: tuple[Outcome, ...] = ("succeeded", "failed")
_JOB_ROWS: tuple[Part, ...] = ("jobs",)


class CostDays:
    """The usage of days before today, which the host itself makes."""

    def __init__(self, tables: Tables) -> None:
        self._store = UsageDayStore(tables)
        self._today = int(time.time() * 1000) // DAY

    async def seed(self) -> None:
        for number in range(DAYS):
            await self._store.save(_ACCOUNT, _day(self._today - DAYS + number, number))

    async def requests(self) -> int:
        """Returns how many requests to tables read all days with their jobs."""
        found, send = 0, AioHttpTransport.send

        async def counted(transport: AioHttpTransport, *request: object, **options: object) -> object:
            nonlocal found
            found += 1
            return await send(transport, *request, **options)

        AioHttpTransport.send = counted
        try:
            days = await self._store.load(_ACCOUNT, range(self._today - DAYS, self._today), _JOB_ROWS)
        finally:
            AioHttpTransport.send = send
        if len(days) < DAYS:
            raise RuntimeError(f"only {len(days)} days of usage are stored")
        return found


def _day(day: int, number_of_day: int) -> UsageDay:
    pools = {
        f"pool-{number:03}": PoolDay(
            f"pool-{number:03}",
            4,
            "westeurope",
            "linux",
            None,
            {kind: {name: _amount(day, number, kind, name) * 24 for name in _POOL_CLASSES} for kind in _KINDS},
        )
        for number in range(POOLS)
    }
    first = [number * (DAYS - _DAYS_OF_JOB + 1) // JOBS for number in range(JOBS)]
    running = [number for number, begun in enumerate(first) if begun <= number_of_day < begun + _DAYS_OF_JOB]
    jobs = {f"job-{number:05}": JobDay(f"job-{number:05}", _held(day, number)) for number in running}
    return UsageDay(day, (day + 1) * DAY, pools, jobs=jobs, settled=24, is_final=True)


def _held(day: int, number: int) -> dict[JobUsageKey, int]:
    return {
        JobUsageKey(f"pool-{(number + offset) % POOLS:03}", _KINDS[0], outcome): _amount(day, number, offset, outcome)
        for offset in (0, 1)
        for outcome in _OUTCOMES
    }


def _amount(*place: object) -> int:
    """Returns milliseconds below an hour that follow from the place alone."""
    return crc32(repr(place).encode()) % _HOUR
