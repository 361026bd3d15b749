"""The age of polls of jobs in the API, sampled for every job of some accounts."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aiohttp import ClientError, ClientSession

_AT_ONCE = 4
_RETRY = 0.5  # seconds

type Take = Callable[[str, Sequence[dict[str, Any]], datetime], None]


@dataclass(slots=True)
class Freshness:
    """Ages in seconds: since the last poll (`ages`; `oldest` by account) and of the counts' as-of.

    `levels` counts samples by verdict level.
    """

    ages: list[float] = field(default_factory=list)
    as_of_ages: list[float] = field(default_factory=list)
    oldest: dict[str, tuple[float, str]] = field(default_factory=dict)
    levels: Counter[str] = field(default_factory=Counter)
    seen: dict[str, set[str]] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        return max(self.ages, default=0.0)

    def percentile(self, share: float) -> float:
        return percentile(self.ages, share)

    def take(self, account: str, jobs: Sequence[dict[str, Any]], now: datetime) -> None:
        """Records an account's jobs as the API showed them at `now`."""
        for job in jobs:
            verdict = job["verdict"]
            age = (now - datetime.fromisoformat(verdict["checkedAt"])).total_seconds()
            self.ages.append(age)
            self.as_of_ages.append((now - datetime.fromisoformat(verdict["asOf"])).total_seconds())
            self.levels[verdict["level"]] += 1
            self.seen.setdefault(account, set()).add(verdict["checkedAt"])
            if age > self.oldest.get(account, (0.0, ""))[0]:
                self.oldest[account] = (age, f"{job['id']} checked at {verdict['checkedAt']}, seen at {now:%H:%M:%S}")


def percentile(ages: Sequence[float], share: float) -> float:
    ordered = sorted(ages)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


async def jobs_of(session: ClientSession, api: str, account: str) -> list[dict[str, Any]]:
    async with session.get(f"{api}/accounts/{account}/jobs?maxpagesize=1000") as answer:
        answer.raise_for_status()
        found: list[dict[str, Any]] = (await answer.json())["value"]
        return found


async def sample(session: ClientSession, api: str, accounts: Sequence[str], take: Take, *, every: float) -> None:
    """Polls all accounts every `every` seconds, evenly spread, until cancelled.

    `take` gets the account, its jobs as the API shows them, and the time of the answer.
    """
    gate = asyncio.Semaphore(_AT_ONCE)
    looks: set[asyncio.Task[None]] = set()

    async def look(account: str) -> None:
        async with gate:
            jobs = await jobs_of(session, api, account)
            take(account, jobs, datetime.now(UTC))

    time = asyncio.get_running_loop().time
    due = time()
    while True:
        for account in accounts:
            due += every / len(accounts)
            await asyncio.sleep(max(0.0, due - time()))
            task = asyncio.create_task(look(account))
            looks.add(task)
            task.add_done_callback(looks.discard)


async def first_reads(
    session: ClientSession, api: str, accounts: Sequence[str], *, jobs: int, patience: float
) -> float:
    """Waits until every account has this number of jobs with counts; returns the seconds. Raises TimeoutError."""
    began, left = time.monotonic(), list(accounts)
    async with asyncio.timeout(patience):
        while left:
            with contextlib.suppress(ClientError):
                shown = await jobs_of(session, api, left[0])
                if len(shown) == jobs and all(job["verdict"]["asOf"] for job in shown):
                    left.pop(0)
                    continue
            await asyncio.sleep(_RETRY)
    return time.monotonic() - began
