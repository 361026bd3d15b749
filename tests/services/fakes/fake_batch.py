"""One process's view of a Batch account in memory: every answer is true at the instant it is served."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import partial
from itertools import islice
from json import dumps, loads
from typing import override

from shared.domain.accounts.accounts import Account
from shared.domain.core.call_window import CallWindow
from shared.domain.jobs.jobs import JobFacts
from shared.domain.reads.id_ranges import IdRange
from shared.domain.tasks.tasks import COMPLETED, PREPARING, Task, TaskCounts
from shared.errors import BatchError, BatchMissingError
from shared.stores.batch.batch import BatchAccount, JobPage, TaskPage
from shared.stores.batch.batch_addresses import StateFilter
from shared.stores.batch.rate_limits import LongReadRateLimit, RateLimitPolicy
from tests.services.fakes.memory_tables import Connection
from tests.services.fakes.truth import TrueJob, Truth


@dataclass(slots=True)
class Service:
    """The service shared by all processes: its truth, its behaviour, and its refusals (request pattern -> error).

    `hidden` are jobs missing from its lists, which have `job_page_size` jobs a page. A list of more than `short_read`
    tasks is too long for a round. Each process sends at most `calls_per_minute`.
    """

    truth: Truth
    now: Callable[[], datetime]
    page_size: int = 3
    job_page_size: int = 1000
    count_lag: timedelta = timedelta()
    sends_date: bool = True
    refusals: dict[str, BatchError] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    short_read: int = 20_000
    calls_per_minute: int = 1_000_000


class FakeBatch(BatchAccount):
    """A client of the service.

    `requests` are those sent; `list_date` is the date of the last job list, `last_date` that of the last answer.
    """

    def __init__(self, account: Account, service: Service, connection: Connection) -> None:
        self.account = account
        self.calls = 0
        self.latency = 0.0
        self.requests: list[str] = []
        self.list_date: datetime | None = None
        self.last_date: datetime | None = None
        self.newest: int = 0
        calls = CallWindow(service.calls_per_minute)
        self.turns = LongReadRateLimit(calls)
        self._cap = RateLimitPolicy(account.endpoint, calls)
        self._service = service
        self._connection = connection

    @override
    async def fetch_jobs(self, *, changed_since: datetime | None = None) -> JobPage:
        """Fetches page by page; each page shows the jobs at the instant it is served."""
        (page, after), first = await self._served("jobs", lambda now: self._jobs(now, changed_since, ""))
        found, self.list_date = page, first
        while after is not None:
            (page, after), _ = await self._served("jobs", partial(self._jobs, since=changed_since, after=after))
            found += page
        return JobPage(tuple(found), self.list_date)

    @override
    async def fetch_job(self, job_id: str) -> JobFacts:
        return (await self._served(f"jobs/{job_id}", lambda moment: self._job(job_id, moment).facts(moment)))[0]

    @override
    async def fetch_task_counts(self, job_id: str) -> tuple[TaskCounts, datetime | None]:
        return await self._served(f"jobs/{job_id}/counts", lambda moment: self._counts(job_id, moment))

    @override
    async def fetch_task(self, job_id: str, task_id: str) -> Task | None:
        def answer(moment: datetime) -> Task | None:
            tasks = self._job(job_id, moment).tasks
            change = tasks[task_id].seen_at(moment) if task_id in tasks else None
            return change.row if change else None

        return (await self._served(f"jobs/{job_id}/tasks/{task_id}", answer))[0]

    @override
    async def fetch_task_page(
        self, job_id: str, ids: IdRange, *, changed_since: datetime | None = None, state: StateFilter | None = None
    ) -> TaskPage:
        """Returns a page in the order of ids: of the next `page_size` tasks those that match, possibly none.

        A next link contains all parameters of its list's first request.
        """
        link = ids.cursor or dumps([ids.low, ids.high, "", changed_since and changed_since.timestamp(), state])
        (tasks, after), date = await self._served(f"jobs/{job_id}/tasks", lambda now: self._page(job_id, link, now))
        self.newest = max([self.newest, *(task.transition for task in tasks)])
        return TaskPage(tasks, date, after)

    def matches(self, stamp: datetime, since: datetime) -> bool:
        """Returns whether the filter `stateTransitionTime ge SINCE`, written in milliseconds, admits a stamp."""
        return stamp >= since.replace(microsecond=since.microsecond // 1000 * 1000)

    async def _served[T](self, request: str, answer: Callable[[datetime], T]) -> tuple[T, datetime | None]:
        self._connection.stop_if_dead()
        self._cap.on_request(None)
        self.calls += 1
        self.requests.append(request)
        await asyncio.sleep(self.latency / 2)
        moment = self._service.now()
        for pattern, error in self._service.refusals.items():
            if fnmatchcase(request, pattern):
                raise error
        result = answer(moment)
        await asyncio.sleep(self.latency / 2)
        self._connection.stop_if_dead()
        self.last_date = moment.replace(microsecond=0) if self._service.sends_date else None
        return result, self.last_date

    def _jobs(self, moment: datetime, since: datetime | None, after: str) -> tuple[list[JobFacts], str | None]:
        """Returns a page of the jobs after `after`, and the key where the next page begins (None on the last)."""
        behind = [job for job in self._service.truth.all_at(moment) if job.id > after]
        looked_at = behind[: self._service.job_page_size]
        listed = [facts for job in looked_at if job.id not in self._service.hidden and (facts := job.listed(moment))]
        page = [facts for facts in listed if since is None or self.matches(facts.state_transition_time, since)]
        return page, looked_at[-1].id if len(behind) > len(looked_at) else None

    def _job(self, job_id: str, moment: datetime) -> TrueJob:
        job = self._service.truth.at(job_id, moment)
        if job is None:
            raise BatchMissingError(f"404: no job {job_id}", code="JobNotFound")
        return job

    def _counts(self, job_id: str, moment: datetime) -> TaskCounts:
        return self._job(job_id, moment).counts(moment - self._service.count_lag).as_service_counts()

    def _page(self, job_id: str, link: str, moment: datetime) -> tuple[list[Task], str | None]:
        low, high, after, since_seconds, state = loads(link)
        since = datetime.fromtimestamp(since_seconds, UTC) if since_seconds is not None else None
        tasks = self._job(job_id, moment).tasks
        names = sorted(tasks)
        seen = (
            (name, change)
            for name in names[bisect_right(names, after) :]
            if (low is None or name.lower() >= low.lower())
            and (high is None or name.lower() < high.lower())
            and (change := tasks[name].seen_at(moment))
        )
        page = list(islice(seen, self._service.page_size))
        rows = [change.row for _, change in page if since is None or self.matches(change.stamp, since)]
        rows = [row for row in rows if state is None or _is_in(row, state)]
        more = next(seen, None) is not None
        return rows, dumps([low, high, page[-1][0], since_seconds, state]) if more else None


def _is_in(row: Task, state: StateFilter) -> bool:
    return row.state == PREPARING if state == "preparing" else row.state != COMPLETED
