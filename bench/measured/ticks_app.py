"""The app's side of `bench pools` that counts requests to tables, in a separate process: those of whole ticks.

`python -m bench.measured.ticks_app JSON` prints the mean of ten ticks as JSON; two explain waiting jobs.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import override

from azure.batch.aio import BatchClient

from bench.measured.cost_app import App, Counts, Workload, count_requests, ports_of
from local.prove.load.raw_writes import post
from shared.settings import read_settings

_WARM_UP, _TICKS = 6, 10
_TASKS, _NODES = 20, 4
_SETTINGS = read_settings({})


class TickApp(App):
    """One pool, on which each of the workload's jobs has more tasks than it has slots."""

    of_conditions = 0

    @override
    async def _stage(self, client: BatchClient) -> None:
        pool = {"id": "pool-0", "vmSize": "standard_d4s_v5", "taskSlotsPerNode": 1, "targetDedicatedNodes": _NODES}
        await post(client, "/pools", pool)
        await self._advance(600)
        for number in range(self.workload.jobs):
            job = {"id": f"job-{number}", "poolInfo": {"poolId": "pool-0"}, "usesTaskDependencies": number % 4 == 0}
            await post(client, "/jobs", job)
            tasks = [{"id": f"task-{place:03}", "commandLine": "sleep 1000000"} for place in range(_TASKS)]
            await post(client, f"/jobs/job-{number}/addtaskcollection", {"value": tasks})
        await self._advance(60)

    @override
    async def tick(self) -> None:
        """Does the work of the timer function, with dependencies and explanations."""
        await super().tick()
        services, budget = self.services, _SETTINGS.tick_budget
        await services.failures.follow(budget)
        await services.dependencies.refresh(services.polling.take_dependents())
        await services.waiting_jobs.run(turn=budget, budget=budget)
        before = self.counts.found["table"]
        await services.condition_evaluations.refresh(services.polling.take_news())
        self.of_conditions += self.counts.found["table"] - before


async def _measured(workload: Workload) -> dict[str, float]:
    counts = Counts(ports_of(workload.storage))
    count_requests(counts)
    app = TickApp(workload, counts)
    async with AsyncExitStack() as stack:
        await app.open(stack)
        for number in range(_WARM_UP + _TICKS):
            counts.running = number >= _WARM_UP
            await app.tick()
            counts.running = False
            await app.minute_goes_by()
    conditions = app.of_conditions / _TICKS
    return {"requests": counts.found["table"] / _TICKS - conditions, "conditions": conditions}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_measured(Workload(**json.loads(sys.argv[1]))))))
