"""One tick over all accounts: a round of each that is due, side by side, and no account waits for another.

A timer fires again only after its function has returned. So while one account takes its time (a first read, a service
that doesn't answer), the tick goes on giving the others their rounds as they come due; it never just waits for the
slowest.
"""

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.services.rounds import AccountRounds

_SHORTEST_WAIT = 0.01  # seconds


class Dispatch:
    """Rounds until the budget is over, or every round begun within it has ended, whichever is later.

    Ends as soon as nothing is under way: what comes due after that is the next tick's.
    """

    def __init__(
        self, accounts: Collection[AccountRounds], clock: Clock, *, interval: timedelta, budget: timedelta
    ) -> None:
        self._clock = clock
        self._interval = interval
        self._budget = budget
        self._time = asyncio.get_running_loop().time
        self._over_at = self._time() + budget.total_seconds()
        self._due: dict[AccountRounds, datetime | None] = dict.fromkeys(accounts)
        self._under_way: dict[asyncio.Task[datetime | None], AccountRounds] = {}
        self._begun_in_time: set[asyncio.Task[datetime | None]] = set()

    async def run(self) -> None:
        """Raises what went wrong with storage, after all rounds."""
        errors: list[BaseException] = []
        now: datetime | None = None
        try:
            while self._begin_what_is_due(now):
                ended, _ = await asyncio.wait(
                    self._under_way, timeout=self._until_next(now), return_when=asyncio.FIRST_COMPLETED
                )
                errors.extend(error for task in ended if (error := self._take(task)))
                now = await self._clock.now()
        finally:
            for task in self._under_way:
                task.cancel()
        for error in errors:
            raise error

    def _begin_what_is_due(self, now: datetime | None) -> bool:
        """Begins rounds; before the first of them `now` isn't known and every account has its turn.

        False when nothing is under way any more.
        """
        in_time = self._time() < self._over_at
        if not in_time and not self._begun_in_time:
            self._due.clear()
        if now is None or self._under_way:
            for rounds in [one for one, at in self._due.items() if at is None or (now and at <= now)]:
                del self._due[rounds]
                task = asyncio.create_task(rounds.run_if_due(self._interval, budget=self._budget))
                self._under_way[task] = rounds
                if in_time:
                    self._begun_in_time.add(task)
        return bool(self._under_way)

    def _take(self, task: asyncio.Task[datetime | None]) -> BaseException | None:
        """Notes when the account of a round that ended is due again; gives what the round raised."""
        rounds = self._under_way.pop(task)
        self._begun_in_time.discard(task)
        if error := task.exception():
            return error
        if due_at := task.result():
            self._due[rounds] = due_at
        return None

    def _until_next(self, now: datetime | None) -> float | None:
        """Seconds until the next account is due, None where none is known to be."""
        known = [at for at in self._due.values() if at]
        return max((min(known) - now).total_seconds(), _SHORTEST_WAIT) if known and now else None
