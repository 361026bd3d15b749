"""Reads one Batch account through the official SDK; no call in this module writes.

Task lists use the client's own `send_request` and msgspec, which keeps authentication, retries and tracing at a tenth
of the cost of the SDK's models; everything else uses the models.
"""

import logging
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.rest import HttpRequest

from shared.domain.accounts.accounts import Account
from shared.domain.core.call_window import CallWindow
from shared.domain.core.next_links import NextLinks
from shared.domain.core.stamps import http_date
from shared.domain.jobs.jobs import JobFacts
from shared.domain.reads.id_ranges import IdRange
from shared.domain.tasks.task_details import TaskDetails
from shared.domain.tasks.task_secrets import details_of
from shared.domain.tasks.tasks import Task, TaskCounts
from shared.errors import BatchAnswerError, BatchMissingError, RepeatedLinkError
from shared.stores.batch.batch_addresses import API_VERSION, PAGE, StateFilter, literal, query_of, task_url, tasks_url
from shared.stores.batch.batch_errors import parsed, translated
from shared.stores.batch.batch_rows import JOB_FIELDS, TASK_FIELDS, job_of, page_of, task_of
from shared.stores.batch.rate_limits import LongReadRateLimit, RateLimitPolicy
from shared.stores.batch.read_meter import current_meter
from shared.stores.batch.url_policies import OwnHostPolicy, PlainColonsPolicy
from shared.stores.proxies import has_proxies
from shared.stores.tables.time_limit import LIMIT, TimeLimitPolicy, answered_within

logging.getLogger("azure.batch._utils.model_base").setLevel(logging.ERROR)  # a traceback for each 404 of a stream
_CONNECT_SECONDS = 10
NO_JOB, NO_TASK = ("JobNotFound",), ("TaskNotFound",)


@dataclass(frozen=True, slots=True)
class JobPage:
    """Jobs of a list, and the date of its first response; only later changes may be missing."""

    jobs: tuple[JobFacts, ...]
    date: datetime | None


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A page of a task list, its response's date (None without one), and the link to the next page (None: last)."""

    tasks: list[Task]
    date: datetime | None
    next_link: str | None

    @property
    def is_last(self) -> bool:
        return self.next_link is None


class BatchAccount:
    """One account's jobs and tasks; `calls` counts the requests sent, for the customer's quota.

    Reads that may take very many requests must wait for `turns` before each. Pools and nodes are requested in the API
    version `pool_version`. Of jobs' metadata only items with names in `labels` are kept.
    """

    def __init__(
        self,
        account: Account,
        client: BatchClient,
        turns: LongReadRateLimit,
        *,
        limit: timedelta = LIMIT,
        pool_version: str = API_VERSION,
        labels: Collection[str] = (),
    ) -> None:
        self.account = account
        self.turns = turns
        self.pool_version = pool_version
        self._labels = labels
        self._job_fields = [*JOB_FIELDS, "metadata"] if labels else JOB_FIELDS
        self.calls = 0
        self._client = client
        self._limit = limit

    @classmethod
    def connect(
        cls,
        account: Account,
        *,
        key: str | None,
        credential: AsyncTokenCredential | None,
        calls_per_minute: int = 3000,
        limit: timedelta = LIMIT,
        pool_version: str = API_VERSION,
        labels: Collection[str] = (),
    ) -> "BatchAccount":
        """Returns a connected account; `limit` is the time limit of one response.

        Keys are sent only to this machine, tokens only over https: `Account` admits no other addresses.
        """
        calls = CallWindow(calls_per_minute)
        secret: Any = AzureNamedKeyCredential(account.name, key) if key and account.is_local else credential
        client = BatchClient(
            account.endpoint,
            secret,
            credential_scopes=[account.token_scope],
            retry_total=1,
            retry_status=0,
            retry_on_status_codes=[],
            per_call_policies=[
                PlainColonsPolicy(),
                TimeLimitPolicy(limit),
                OwnHostPolicy(account.endpoint),
                RateLimitPolicy(account.endpoint, calls),
            ],
            permit_redirects=False,
            connection_timeout=_CONNECT_SECONDS,
            read_timeout=limit.total_seconds(),
            use_env_settings=has_proxies(),
        )
        return cls(account, client, LongReadRateLimit(calls), limit=limit, pool_version=pool_version, labels=labels)

    async def close(self) -> None:
        await self._client.close()

    async def fetch_jobs(self, *, changed_since: datetime | None = None) -> JobPage:
        """Returns all jobs, or those whose state changed at or after a time. Raises BatchError."""
        dates: list[datetime | None] = []
        condition = f"stateTransitionTime ge {literal(changed_since)}" if changed_since else None
        links, jobs = NextLinks(), list[JobFacts]()
        async with translated(self.account, "list jobs"):
            pages: Any = self._client.list_jobs(
                filter=condition, select=self._job_fields, max_results=PAGE, raw_response_hook=self._date_keeper(dates)
            ).by_page()
            async for page in pages:
                jobs += [job_of(job, self._labels) async for job in page]
                if links.is_repeat(pages.continuation_token):
                    raise RepeatedLinkError(self.account.endpoint, "list jobs")
        return JobPage(tuple(jobs), dates[0] if dates else None)

    async def fetch_job(self, job_id: str) -> JobFacts:
        """Returns one job. Raises BatchMissingError if it doesn't exist, BatchError."""
        async with translated(self.account, f"get the job '{job_id}'", missing=NO_JOB):
            job = await self._client.get_job(job_id, raw_response_hook=self._date_keeper([]))
            return job_of(job, self._labels)

    async def fetch_task_counts(self, job_id: str) -> tuple[TaskCounts, datetime | None]:
        """Returns Get Task Counts, where preparing tasks count as running, and its date.

        Raises BatchMissingError if the job doesn't exist, BatchError.
        """
        dates: list[datetime | None] = []
        async with translated(self.account, f"count the tasks of '{job_id}'", missing=NO_JOB):
            answer = await self._client.get_job_task_counts(job_id, raw_response_hook=self._date_keeper(dates))
        found = answer.task_counts
        counts = TaskCounts(found.active, 0, found.running, found.completed, found.succeeded, found.failed)
        return counts, dates[-1] if dates else None

    async def fetch_task(self, job_id: str, task_id: str) -> Task | None:
        """Returns one task, or None. Raises BatchMissingError if the job doesn't exist, BatchError."""
        url, intent = f"{task_url(job_id, task_id)}?{query_of(TASK_FIELDS, page=False)}", _get_task(job_id, task_id)
        try:
            body, _ = await self.read(url, intent, missing=NO_TASK + NO_JOB)
        except BatchMissingError as error:
            if error.code in NO_JOB:
                raise
            return None
        return parsed(self.account, body, task_of, intent)

    async def fetch_task_details(self, job_id: str, task_id: str) -> tuple[TaskDetails, tuple[str, ...]]:
        """Returns one task in full without its secrets, and the names of omitted properties.

        Raises BatchMissingError if the task or job doesn't exist; BatchError.
        """
        url = f"{task_url(job_id, task_id)}?{query_of((), page=False, **{'$expand': 'stats'})}"
        intent = _get_task(job_id, task_id)
        body, _ = await self.read(url, intent, missing=NO_TASK + NO_JOB)
        return parsed(self.account, body, details_of, intent, explains=False)

    async def fetch_task_pages(
        self, job_id: str, *, changed_since: datetime | None = None, state: StateFilter | None = None
    ) -> AsyncIterator[TaskPage]:
        """Yields pages of all tasks, of those that changed state at or after a time, or of those in a state.

        Short and empty pages are normal. Raises BatchError; BatchMissingError if the job is gone.
        """
        ids, links = IdRange(), NextLinks()
        while True:
            page = await self.fetch_task_page(job_id, ids, changed_since=changed_since, state=state)
            yield page
            if page.is_last:
                return
            if links.is_repeat(page.next_link):
                raise RepeatedLinkError(self.account.endpoint, f"list the tasks of '{job_id}'")
            ids = IdRange(cursor=page.next_link)

    async def fetch_task_page(
        self, job_id: str, ids: IdRange, *, changed_since: datetime | None = None, state: StateFilter | None = None
    ) -> TaskPage:
        """Returns the next page of a range of ids. Raises the errors of `fetch_task_pages`."""
        url, intent = ids.cursor or tasks_url(job_id, changed_since, state, ids), f"list the tasks of '{job_id}'"
        with current_meter().page():
            body, date = await self.read(url, intent, missing=NO_JOB)
        tasks, next_link = parsed(self.account, body, page_of, intent)
        return TaskPage(tasks, date, next_link)

    async def read(self, url: str, intent: str, *, missing: Collection[str] = ()) -> tuple[bytes, datetime | None]:
        """Returns a body and its date, without the SDK's models; `intent` names the purpose, like "list pools".

        Raises BatchMissingError for a 404 with one of the codes `missing`, BatchError.
        """
        body, headers = await self.answer("GET", url, intent, {"Accept": "application/json"}, missing=missing)
        return body, http_date(headers.get("Date"))

    async def answer(
        self,
        method: Literal["GET", "HEAD"],
        url: str,
        intent: str,
        headers: dict[str, str],
        *,
        missing: Collection[str],
        most: int | None = None,
    ) -> tuple[bytes, Mapping[str, str]]:
        """Returns a body and the headers of its response. Raises the errors of `read`.

        Where the headers announce a body of more than `most` bytes it isn't received: that raises BatchAnswerError.
        """
        async with translated(self.account, intent, missing=missing), answered_within(self._limit):
            request = HttpRequest(method, url, headers=headers)
            self.calls += 1
            current_meter().note_request()
            response = await self._client.send_request(request, stream=True)
            size = response.headers.get("Content-Length") or ""
            if most is not None and size.isdecimal() and int(size) > most and response.status_code in (200, 206):
                await response.close()
                raise BatchAnswerError(f"{self.account.endpoint} would send {size} bytes to the request to {intent}.")
            return await response.read(), response.headers

    def _date_keeper(self, dates: list[datetime | None]) -> Callable[[Any], None]:
        def keep(answer: Any) -> None:
            self.calls += 1
            current_meter().note_request()
            dates.append(http_date(answer.http_response.headers.get("Date")))

        return keep


def _get_task(job_id: str, task_id: str) -> str:
    return f"get the task '{task_id}' of '{job_id}'"
