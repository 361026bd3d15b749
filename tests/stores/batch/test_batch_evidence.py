"""Evidence for waiting tasks, as the service sends it: lists are read over pages, up to a bound."""

from typing import Any

import pytest
from aiohttp import web

from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence
from tests.stores.batch.test_batch_pools import body
from tests.stores.batch.test_failing_batch import Service, account, service

__all__ = ["account", "service"]


def status(number: int) -> dict[str, Any]:
    """Returns a status; preparation failed on the last node of every page."""
    result = "failure" if number % 2 else "success"
    return {"nodeId": f"tvm-{number}", "jobPreparationTaskExecutionInfo": {"result": result, "exitCode": number % 2}}


@pytest.mark.parametrize(("pages", "read"), [(1, 1), (3, 3), (4, 3)])
async def test_preparation_is_read_from_as_many_nodes_as_three_pages_show(
    service: Service, account: BatchAccount, pages: int, read: int
) -> None:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        first, link = 2 * service.requests - 2, f"{account.account.endpoint}/{service.requests}"
        rows = [status(first), status(first + 1)]
        return web.Response(body=body(*rows, link=link if service.requests < pages else None))

    service.answer = answer
    found, whole = await BatchEvidence(account).fetch_preparation("job")
    assert (service.requests, whole) == (read, pages == read)
    assert (found.nodes, found.succeeded) == (2 * read, read)
    assert found.failed_nodes == {f"tvm-{2 * page + 1}" for page in range(read)}
    assert found.failures == (("The preparation task failed with exit code 1.", read),)


@pytest.mark.parametrize(
    ("preparation", "is_awaited"),
    [(None, False), ({}, True), ({"waitForSuccess": None}, True), ({"waitForSuccess": True}, True),
     ({"waitForSuccess": False}, False)],
)  # fmt: skip
async def test_tasks_wait_for_a_preparation_unless_the_job_says_otherwise(
    service: Service, account: BatchAccount, preparation: dict[str, Any] | None, *, is_awaited: bool
) -> None:
    at = "2026-11-21T12:00:00Z"
    job: dict[str, Any] = {"id": "job", "creationTime": at, "state": "active", "stateTransitionTime": at}
    if preparation is not None:
        job["jobPreparationTask"] = {"commandLine": "true", **preparation}

    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response(job)

    service.answer = answer
    facts, found, *_ = await BatchEvidence(account).fetch_job("job")
    assert (facts.id, found) == ("job", is_awaited)
