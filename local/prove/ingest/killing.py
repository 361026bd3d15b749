"""Kills and freezes the hosts of a rig at random moments, and restarts killed ones."""

import asyncio
import random
import time

from local.dev.system.console import say
from local.prove.stack.rig import Rig, Seat

_FROZEN = (2.0, 9.0)  # seconds
_FROZEN_SHARE = 0.3  # share of kills during which another host is frozen
_WARM_UP = 3.0
_LOOK = 0.05


class Killer:
    """Kills a number of hosts within a number of seconds."""

    def __init__(self, rig: Rig, *, kills: int, seconds: float, seed: int) -> None:
        self._rig, self._chance = rig, random.Random(f"{seed} kills")
        self._moments = sorted(self._chance.uniform(_WARM_UP, seconds) for _ in range(kills))
        self._taken: set[str] = set()
        self._under_way: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Returns after the last kill once every host runs. Raises Failure if one doesn't restart."""
        began = time.monotonic()
        for moment in self._moments:
            await asyncio.sleep(max(began + moment - time.monotonic(), 0.0))
            seat = await self._some()
            self._under_way.append(asyncio.create_task(self._replace(seat)))
            if self._chance.random() < _FROZEN_SHARE and (other := self._free()):
                self._under_way.append(asyncio.create_task(self._freeze(other)))
        await asyncio.gather(*self._under_way)

    async def restart_all(self) -> None:
        """Kills and restarts all hosts, so that only stored state remains."""
        for seat in self._rig.seats:
            await asyncio.to_thread(self._rig.children.kill, seat.name)
            await asyncio.to_thread(self._rig.start, seat)

    async def _some(self) -> Seat:
        """Returns a running host, waiting for one if necessary."""
        while (seat := self._free()) is None:
            self._raise_failures()
            await asyncio.sleep(_LOOK)
        return seat

    def _free(self) -> Seat | None:
        """Returns a running host that isn't frozen, and reserves it."""
        free = [seat for seat in self._rig.seats if seat.stack and seat.name not in self._taken]
        seat = self._chance.choice(free) if free else None
        if seat:
            self._taken.add(seat.name)
        return seat

    async def _replace(self, seat: Seat) -> None:
        await asyncio.to_thread(self._rig.kill, seat)
        say(f"  kill {self._rig.kills['all']:2}: {seat.name}")
        await asyncio.to_thread(self._rig.start, seat)
        self._taken.discard(seat.name)

    async def _freeze(self, seat: Seat) -> None:
        await asyncio.to_thread(self._rig.freeze, seat, self._chance.uniform(*_FROZEN))
        self._taken.discard(seat.name)

    def _raise_failures(self) -> None:
        for task in self._under_way:
            if task.done():
                task.result()
