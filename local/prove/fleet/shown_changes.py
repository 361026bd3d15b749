"""Measures the delay until a change of a job shows in the API, from just before the request to Batch.

All jobs are polled regularly. The job of a change that waits for long is polled more often, so that delays near the
bound are accurate to some seconds.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession

_LONG = 80.0  # seconds that a change waits before its job is polled separately
_LOOK_EVERY = 3.0  # seconds


@dataclass(slots=True, eq=False)
class Change:
    """A change: a job has `total` tasks since `at`; times are seconds of one monotonic clock."""

    account: str
    job: str
    total: int
    at: float
    shown_at: float | None = None

    def waited(self, now: float) -> float:
        """Returns the seconds until it was shown, or until now."""
        return (now if self.shown_at is None else self.shown_at) - self.at


@dataclass(slots=True, eq=False)
class Changes:
    """The changes of jobs that have `tasks` each at first and only gain more."""

    tasks: int
    made: list[Change] = field(default_factory=list)
    _later: Counter[tuple[str, str]] = field(default_factory=Counter)
    _waiting: dict[tuple[str, str], list[Change]] = field(default_factory=dict)

    def add(self, account: str, job: str, at: float) -> None:
        """Records that the job gets one more task."""
        key = account, job
        self._later[key] += 1
        change = Change(account, job, self.tasks + self._later[key], at)
        self.made.append(change)
        self._waiting.setdefault(key, []).append(change)

    def take(self, account: str, jobs: Sequence[dict[str, Any]], now: float) -> None:
        """Records an account's jobs as the API showed them at `now`."""
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
    """Polls the jobs of long-waiting changes separately, until cancelled."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        for number, change in enumerate(changes.waiting(_LONG, time.monotonic())):
            url = f"{apis[number % len(apis)]}/accounts/{change.account}/jobs/{change.job}"
            async with session.get(url) as answer:
                answer.raise_for_status()
                changes.take(change.account, [await answer.json()], time.monotonic())
