"""How long it takes until a change of a job shows in the API, from the moment before Batch was asked for it.

All jobs are looked at every so often anyway. A change that waits for long is looked for more often, by its job alone,
so that the times near the bound are told to some seconds.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession

_LONG = 80.0  # seconds that a change waits before its job is looked at alone
_LOOK_EVERY = 3.0  # seconds


@dataclass(slots=True, eq=False)
class Change:
    """A job has `total` tasks since `at`; times are of one monotonic clock, in seconds."""

    account: str
    job: str
    total: int
    at: float
    shown_at: float | None = None

    def waited(self, now: float) -> float:
        """Seconds until it was shown, or until now where it wasn't."""
        return (now if self.shown_at is None else self.shown_at) - self.at


@dataclass(slots=True, eq=False)
class Changes:
    """Of jobs that have `tasks` each at first and only get more."""

    tasks: int
    made: list[Change] = field(default_factory=list)
    _later: Counter[tuple[str, str]] = field(default_factory=Counter)
    _waiting: dict[tuple[str, str], list[Change]] = field(default_factory=dict)

    def add(self, account: str, job: str, at: float) -> None:
        """The job gets a task more."""
        key = account, job
        self._later[key] += 1
        change = Change(account, job, self.tasks + self._later[key], at)
        self.made.append(change)
        self._waiting.setdefault(key, []).append(change)

    def take(self, account: str, jobs: Sequence[dict[str, Any]], now: float) -> None:
        """What the API showed of an account's jobs when it answered at `now`."""
        for job in jobs:
            key, counts = (account, job["id"]), job["taskCounts"]
            if (waiting := self._waiting.get(key)) and counts:
                for change in waiting:
                    if change.total <= counts["total"]:
                        change.shown_at = now
                self._waiting[key] = [change for change in waiting if change.shown_at is None]

    def since(self, began: float) -> list[Change]:
        return [change for change in self.made if change.at >= began]

    def waiting(self, longer_than: float, now: float) -> list[Change]:
        return [change for some in self._waiting.values() for change in some if change.waited(now) > longer_than]


async def look_closer(session: ClientSession, apis: Sequence[str], changes: Changes) -> None:
    """Looks at the jobs of changes that wait for long, each alone, until cancelled."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        for number, change in enumerate(changes.waiting(_LONG, time.monotonic())):
            url = f"{apis[number % len(apis)]}/accounts/{change.account}/jobs/{change.job}"
            async with session.get(url) as answer:
                answer.raise_for_status()
                changes.take(change.account, [await answer.json()], time.monotonic())
