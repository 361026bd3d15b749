"""One tick over all accounts: a round of each due account, several at the same time.

A timer fires again only after its function has returned. So while the round of one account takes long (a first read, a
service that doesn't answer), the tick runs the rounds of other accounts as they come due.
"""

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.services.polling.rounds import AccountRounds

_AT_ONCE = 8
_TURN = 2.0  # seconds
_SHORTEST_WAIT = 0.01  # seconds
_MIN = timedelta(seconds=15)  # for a round that begins late: the jobs polled longest ago are reached nevertheless


class Dispatch:
    """Runs rounds until the budget is over or every round begun within it has ended, whichever is later.

    Accounts take turns, a few at a time, those polled longest ago first. If all ran side by side, each round would last
    as long as all together, and its results would be old when written. A turn ends after two seconds even if its round
    continues, so that slow accounts don't hold up others. The tick ends as soon as no round is running. A round has the
    rest of the budget, but at least 15 seconds. `left` are accounts without a turn by then.
    """

    def __init__(
        self, accounts: Collection[AccountRounds], clock: Clock, *, interval: timedelta, budget: timedelta
    ) -> None:
        self._clock = clock
        self._interval = interval
        self._budget = budget
        self._time = asyncio.get_running_loop().time
        self._over_at = self._time() + budget.total_seconds()
        self._waiting = list(accounts)
        self.left: list[AccountRounds] = []
        self._due: dict[AccountRounds, datetime] = {}
        self._under_way: dict[asyncio.Task[datetime | None], tuple[AccountRounds, float]] = {}  # and its start

    async def run(self) -> None:
        """Runs the tick. Raises errors of storage after all rounds."""
        errors: list[BaseException] = []
        try:
            while self._begin():
                now = await self._clock.now()
                ended, _ = await asyncio.wait(
                    self._under_way, timeout=self._pause(now), return_when=asyncio.FIRST_COMPLETED
                )
                errors.extend(error for task in ended if (error := self._take(task)))
                await self._line_up()
        finally:
            for task in self._under_way:
                task.cancel()
        for error in errors:
            raise error

    def _begin(self) -> bool:
        """Starts rounds of accounts whose turn it is; returns False if no round is running."""
        in_time = self._time() < self._over_at
        if not in_time and not any(began < self._over_at for _, began in self._under_way.values()):
            self.left += self._waiting
            self._waiting.clear()
            self._due.clear()
        self._waiting.sort(key=lambda rounds: rounds.began)
        turns = max(_AT_ONCE - len(self._turns()), 0)
        for rounds in self._waiting[:turns]:
            task = asyncio.create_task(rounds.run_if_due(self._interval, budget=self._budget_left()))
            self._under_way[task] = rounds, self._time()
        del self._waiting[:turns]
        return bool(self._under_way)

    def _budget_left(self) -> timedelta:
        return max(timedelta(seconds=self._over_at - self._time()), min(_MIN, self._budget))

    def _turns(self) -> list[float]:
        """Returns the ends of the running turns, in loop time."""
        return [began + _TURN for _, began in self._under_way.values() if began + _TURN > self._time()]

    def _pause(self, now: datetime) -> float | None:
        """Returns the seconds until a round may have to start; None if only the end of another can cause that."""
        pauses = [(min(self._due.values()) - now).total_seconds()] if self._due else []
        if self._waiting:
            pauses += [min(self._turns(), default=0.0) - self._time()]
        return max(min(pauses), _SHORTEST_WAIT) if pauses else None

    def _take(self, task: asyncio.Task[datetime | None]) -> BaseException | None:
        """Records when the account of an ended round is due again; returns the round's exception."""
        rounds, _ = self._under_way.pop(task)
        if error := task.exception():
            return error
        if due_at := task.result():
            self._due[rounds] = due_at
        return None

    async def _line_up(self) -> None:
        """Queues accounts that came due for a turn, while a round keeps the tick running."""
        now = await self._clock.now()
        if self._under_way:
            due = [rounds for rounds, at in self._due.items() if at <= now]
            self._waiting += due
            for rounds in due:
                del self._due[rounds]
