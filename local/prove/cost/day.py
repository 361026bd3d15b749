"""Runs a day in stepped time: changes, ticks of both apps, kills, and outages of the Batch service."""

import asyncio
import http.client
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from azure.batch.aio import BatchClient

from local.dev.system.console import Failure, say
from local.prove.cost.churn import Churn
from local.prove.cost.rig import Rig, Watcher
from local.workload.target import open_client

_UNANSWERED = (OSError, http.client.HTTPException, ValueError)  # of requests to a killed process
_ROLLED_AT = 17  # minutes after the hour, as the setting HOUSEKEEPING_SCHEDULE has it
_CALM = (5, 20)  # minutes before and after an outage in which quiet pools keep their nodes
_RECOVERED = 15  # minutes
_KILLED_WITHIN = 0.5  # seconds of a tick
SETTLED = 80  # minutes after the day until all its hours are settled and rolled up
OUTAGES = {405: 25, 815: 55}
"""Minutes that the Batch service answers nothing, by the minute of the day in which that begins."""


@dataclass(frozen=True, slots=True)
class NodeSight:
    """What the service says of a node."""

    changed: datetime
    booted: datetime | None


@dataclass(slots=True)
class Outage:
    """An outage: the last time before it at which an app saw the nodes, and the first after it, by the app's name.

    `nodes` are those that the service listed at that time, by pool and id.
    """

    planted: timedelta
    last: dict[str, datetime] = field(default_factory=dict)
    first: dict[str, datetime] = field(default_factory=dict)
    nodes: dict[datetime, dict[tuple[str, str], NodeSight]] = field(default_factory=dict)


class Day:
    """The day; `failures` are ticks and roll-ups that raised, outages aside."""

    def __init__(self, rig: Rig, start: datetime, *, seed: int, minutes: int, kills: int) -> None:
        self.outages: list[Outage] = []
        self.failures: list[str] = []
        self.killed = 0
        self._rig = rig
        self._start = start
        self._minutes = minutes
        self._chance = random.Random(f"{seed}/day")
        self._kills = self._drawn_kills(kills)
        self._seed = seed

    async def run(self) -> Churn:
        """Runs the day and the time until its hours are settled. Raises Failure."""
        async with open_client(self._rig.emulator, self._rig.account.name, self._rig.account.key) as client:
            churn = Churn(self._rig, client, self._seed)
            await self._tick(kill=None)
            await churn.begin()
            for minute in range(1, self._minutes + SETTLED):
                await self._minute(client, churn, minute)
                if minute % 60 == 0:
                    say(f"  {minute // 60:2} h of {self._minutes // 60}: {sum(churn.done.values()):,} changes so far")
        return churn

    async def _minute(self, client: BatchClient, churn: Churn, minute: int) -> None:
        length = OUTAGES.get(minute, 0)
        if length:
            await self._begin_outage(timedelta(minutes=length))
        until = {begin + length: begin for begin, length in OUTAGES.items()}
        if minute in until:
            self._rig.control("DELETE", "faults")
        first = self._chance.uniform(1, 59)
        await asyncio.to_thread(self._rig.advance, first)
        if minute < self._minutes:
            await churn.minute(minute, calm=_is_calm(minute))
        await asyncio.to_thread(self._rig.advance, 60 - first)
        await self._tick(self._kills.get(minute))
        if minute % 60 == _ROLLED_AT:
            await self._fire("housekeeping", self._kills.get(-minute))
        if any(begin + length <= minute < begin + length + _RECOVERED for begin, length in OUTAGES.items()):
            await self._look(client, self.outages[-1])

    async def _begin_outage(self, planted: timedelta) -> None:
        outage = Outage(planted)
        for watcher in self._rig.watchers:
            outage.last[watcher.name] = await self._seen(watcher)
        self.outages.append(outage)
        self._rig.control("POST", "faults", {"method": "GET", "path": "/*", "status": 503})

    async def _look(self, client: BatchClient, outage: Outage) -> None:
        """Notes the nodes where an app has seen them for the first time after an outage."""
        waiting = [one for one in self._rig.watchers if one.name not in outage.first]
        found = {one.name: seen for one in waiting if (seen := await self._seen(one)) > outage.last[one.name]}
        if not found:
            return
        outage.first |= found
        nodes: dict[tuple[str, str], NodeSight] = {}
        async for pool in client.list_pools():
            async for node in client.list_nodes(str(pool.id)):
                if node.state_transition_time is not None:
                    nodes[str(pool.id), str(node.id)] = NodeSight(node.state_transition_time, node.last_boot_time)
        outage.nodes |= dict.fromkeys(found.values(), nodes)

    async def _seen(self, watcher: Watcher) -> datetime:
        """Returns as of when an app shows the nodes of a pool that is always there."""
        found: Any = await asyncio.to_thread(watcher.get, f"accounts/{self._rig.account.name}/pools/steady/cost")
        return datetime.fromisoformat(found["asOf"])

    async def _tick(self, kill: int | None) -> None:
        await self._fire("tick", kill)

    async def _fire(self, timer: str, kill: int | None) -> None:
        """Runs a timer of both apps, and kills the one with this number meanwhile."""
        calls = [self._fired(watcher, timer) for watcher in self._rig.watchers]
        if kill is not None:
            calls[kill].close()
            calls[kill] = self._killed(self._rig.watchers[kill], timer)
        await asyncio.gather(*calls)

    async def _fired(self, watcher: Watcher, timer: str) -> None:
        try:
            done = await asyncio.to_thread(watcher.fire, timer)
        except _UNANSWERED as error:
            raise Failure(f"The {watcher.program.name} doesn't answer any more: {error!r}.") from error
        if not done["ok"]:
            self.failures.append(f"{watcher.name}, {timer} at {self._rig.now():%H:%M}: {done['error']}")

    async def _killed(self, watcher: Watcher, timer: str) -> None:
        firing = asyncio.create_task(asyncio.to_thread(watcher.fire, timer))
        await asyncio.sleep(self._chance.uniform(0, _KILLED_WITHIN))
        watcher.kill()
        await asyncio.gather(firing, return_exceptions=True)
        await asyncio.to_thread(watcher.start)
        self.killed += 1

    def _drawn_kills(self, number: int) -> dict[int, int]:
        """Returns the apps that are killed, by the minute of the tick; negative ones are minutes of roll-ups."""
        ticks = [minute for minute in range(10, self._minutes) if not _is_calm(minute)]
        rolled = [-minute for minute in ticks if minute % 60 == _ROLLED_AT]
        some = self._chance.sample(ticks, min(number - number // 3, len(ticks)))
        some += self._chance.sample(rolled, min(number // 3, len(rolled)))
        return {minute: self._chance.randrange(len(self._rig.watchers)) for minute in some}


def _is_calm(minute: int) -> bool:
    before, after = _CALM
    return any(begin - before <= minute < begin + length + after for begin, length in OUTAGES.items())
