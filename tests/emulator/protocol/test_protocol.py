"""Authentication, headers, conditions, filters, paging: the basics for any Batch client."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import ClientError
from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError

from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from tests.emulator.conftest import Running
from tests.emulator.support.staging import add_job, add_pool, add_tasks

_VERSION = "api-version=2025-06-01"


async def _code(batch: BatchClient) -> str:
    with pytest.raises(HttpResponseError) as caught:
        await batch.get_job("job")
    return _code_of(caught.value)


def _code_of(error: HttpResponseError) -> str:
    return str(error.error.code) if error.error else ""


async def test_a_wrong_key_and_an_unknown_account_are_refused(emulator: Running) -> None:
    wrong = DEVELOPMENT_KEY.replace("a", "b", 1)
    for name, key in (("demo", wrong), ("other", DEVELOPMENT_KEY)):
        async with BatchClient(emulator.url, AzureNamedKeyCredential(name, key), retry_total=0) as batch:
            assert await _code(batch) == "AuthenticationFailed"


async def test_a_request_without_or_with_a_wrong_token_is_refused(emulator: Running) -> None:
    for headers in ({}, {"Authorization": "Bearer guess"}, {"Authorization": "Basic x"}):
        async with emulator.session.get(f"{emulator.url}/jobs?{_VERSION}", headers=headers) as answer:
            assert answer.status == 401
            assert (await answer.json(content_type=None))["code"] == "AuthenticationFailed"


async def test_a_date_that_is_an_hour_off_is_refused(emulator: Running) -> None:
    with pytest.raises(HttpResponseError) as caught:
        await emulator.batch.get_job("job", ocp_date=datetime.now(UTC) - timedelta(hours=1))
    assert _code_of(caught.value) == "AuthenticationFailed"


async def test_answers_bear_the_headers_of_the_service(emulator: Running) -> None:
    await add_job(emulator.batch)
    status, body, headers = await emulator.get(
        f"/jobs/job?{_VERSION}", client_request_id="mine", return_client_request_id="true"
    )
    assert status == 200
    assert headers["etag"] == body["eTag"]
    assert re.fullmatch("0x[0-9A-F]{15,16}", body["eTag"])
    assert headers["server"] == "Microsoft-HTTPAPI/2.0"
    assert headers["dataserviceversion"] == "3.0"
    assert headers["client-request-id"] == "mine"
    assert headers["content-type"].startswith("application/json;odata=minimalmetadata")
    assert {"date", "request-id", "last-modified"} <= headers.keys()


async def test_stamps_have_up_to_seven_digits_and_no_trailing_zeros(emulator: Running) -> None:
    await add_job(emulator.batch)
    _, body, _ = await emulator.get(f"/jobs/job?{_VERSION}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,6}[1-9])?Z", body["creationTime"])


async def test_ids_are_case_insensitive_and_keep_their_case(emulator: Running) -> None:
    await add_job(emulator.batch, "Job-A")
    assert (await emulator.batch.get_job("JOB-a")).id == "Job-A"
    with pytest.raises(ResourceExistsError):
        await add_job(emulator.batch, "job-a")


async def test_an_id_with_other_characters_is_refused(emulator: Running) -> None:
    with pytest.raises(HttpResponseError) as caught:
        await add_job(emulator.batch, "no spaces")
    assert _code_of(caught.value) == "InvalidPropertyValue"


async def test_a_missing_job_is_a_404_with_its_own_code(emulator: Running) -> None:
    with pytest.raises(ResourceNotFoundError) as caught:
        await emulator.batch.get_task("nope", "nope")
    assert _code_of(caught.value) == "JobNotFound"


async def test_conditions_are_honoured_where_they_are_documented(emulator: Running) -> None:
    await add_job(emulator.batch)
    _, body, headers = await emulator.get(f"/jobs/job?{_VERSION}")
    assert (await emulator.get(f"/jobs/job?{_VERSION}", If_None_Match=body["eTag"]))[0] == 304
    assert (await emulator.get(f"/jobs/job?{_VERSION}", If_Match="0x1"))[0] == 412
    assert (await emulator.get(f"/jobs/job?{_VERSION}", If_Modified_Since=headers["last-modified"]))[0] == 304
    assert (await emulator.get(f"/jobs/job?{_VERSION}", If_Match=body["eTag"]))[0] == 200


async def test_conditions_elsewhere_are_refused_and_never_ignored(emulator: Running) -> None:
    status, body, _ = await emulator.get(f"/jobs?{_VERSION}", If_Match="0x1")
    assert (status, body["code"]) == (400, "UnsupportedHeader")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "MissingRequiredQueryParameter"),
        ("api-version=1999-01-01", "UnsupportedRequestVersion"),
        (f"{_VERSION}&nonsense=1", "UnsupportedQueryParameter"),
        (f"{_VERSION}&maxresults=0", "OutOfRangeQueryParameterValue"),
        (f"{_VERSION}&maxresults=1001", "OutOfRangeQueryParameterValue"),
        (f"{_VERSION}&$filter=priority eq 1", "InvalidQueryParameterValue"),
        (f"{_VERSION}&$filter=state gt 'active'", "InvalidQueryParameterValue"),
        (f"{_VERSION}&$filter=state eq", "InvalidQueryParameterValue"),
        (f"{_VERSION}&$filter=(state eq 'active'", "InvalidQueryParameterValue"),
        (f"{_VERSION}&$filter=startswith(state,'a')", "InvalidQueryParameterValue"),
        (f"{_VERSION}&$filter=creationTime ge '2026-01-01'", "InvalidQueryParameterValue"),
        (f"{_VERSION}&$filter=state eq 'active' %26", "InvalidQueryParameterValue"),
    ],
)
async def test_a_query_that_makes_no_sense_is_a_400(emulator: Running, query: str, code: str) -> None:
    status, body, _ = await emulator.get(f"/jobs?{query}")
    assert (status, body["code"]) == (400, code)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id eq 'TASK-00003'", {3}),
        ("id ge 'task-00008'", {8, 9}),
        ("startswith(id,'task-0000') and (id eq 'task-00001' or id eq 'task-00002')", {1, 2}),
        ("state eq 'active' and id lt 'task-00001'", {0}),
        ("state ne 'active'", set()),
        ("executionInfo/exitCode eq 0", set()),
        ("creationTime lt DateTime'2001-01-01T00:00:00Z'", set()),
    ],
)
async def test_filters_find_their_tasks(emulator: Running, condition: str, expected: set[int]) -> None:
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 10)
    found = {int(task.id[-1]) async for task in emulator.batch.list_tasks("job", filter=condition)}
    assert found == expected


async def test_pages_link_on_and_stay_valid_while_tasks_come_and_go(emulator: Running) -> None:
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 30)
    pages = emulator.batch.list_tasks("job", max_results=10).by_page()
    seen = [task.id async for task in await anext(pages)]
    await emulator.batch.delete_task("job", "task-00009")
    await emulator.batch.delete_task("job", "task-00015")
    await add_tasks(emulator.batch, 1, prefix="a-late-one")
    seen += [task.id async for page in pages async for task in page]
    assert seen == [f"task-{number:05}" for number in range(30) if number != 15]


@pytest.mark.parametrize(
    "knobs",
    [{"emptyPageEvery": 1 + 1}, {"pageSize": 7}, {"unorderedLists": True}, {"idCollation": "reversed", "pageSize": 3}],
)
async def test_odd_lists_are_whole_all_the_same(emulator: Running, knobs: dict[str, object]) -> None:
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 25)
    assert (await emulator.control("POST", "settings", knobs))[0] == 200
    seen = [task.id async for task in emulator.batch.list_tasks("job", max_results=10)]
    assert sorted(seen) == [f"task-{number:05}" for number in range(25)]


async def test_select_limits_properties(emulator: Running) -> None:
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 1)
    _, body, _ = await emulator.get(f"/jobs/job/tasks?{_VERSION}&$select=id,state")
    assert body["value"] == [{"id": "task-00000", "state": "active"}]


async def test_a_collection_reports_each_task_and_takes_at_most_a_hundred(emulator: Running) -> None:
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 1)
    rows = [models.BatchTaskCreateOptions(id=name, command_line="true") for name in ("new", "task-00000", "bad id")]
    answer = await emulator.batch.create_task_collection("job", models.BatchTaskGroup(task_values=rows))
    assert [row.error.code if row.error else None for row in answer.result_values or []] == [
        None,
        "TaskExists",
        "InvalidPropertyValue",
    ]
    many = [models.BatchTaskCreateOptions(id=f"x{number}", command_line="true") for number in range(101)]
    with pytest.raises(HttpResponseError):
        await emulator.batch.create_task_collection("job", models.BatchTaskGroup(task_values=many))


async def test_faults_hit_as_often_as_they_were_asked_to(emulator: Running) -> None:
    await add_pool(emulator.batch)
    fault = {"method": "GET", "path": "/pools*", "status": 503, "retryAfter": 7, "count": 1}
    assert (await emulator.control("POST", "faults", fault))[0] == 201
    status, _, headers = await emulator.get(f"/pools?{_VERSION}")
    assert (status, headers["retry-after"]) == (503, "7")
    assert (await emulator.get(f"/pools?{_VERSION}"))[0] == 200


async def test_a_reset_and_a_truncated_answer_look_like_a_broken_network(emulator: Running) -> None:
    for fault in ("reset", "truncate"):
        await emulator.control("POST", "faults", {"path": "/pools", fault: True})
        with pytest.raises(ClientError):
            await emulator.get(f"/pools?{_VERSION}")
        await emulator.control("DELETE", "faults")
    assert (await emulator.get(f"/pools?{_VERSION}"))[0] == 200


async def test_controls_name_unknown_settings(emulator: Running) -> None:
    for name, body in (("clock", {"pause": 1}), ("faults", {"when": 1}), ("settings", {"colour": 1})):
        status, answer = await emulator.control("POST", name, body)
        assert status == 400
        assert min(body) in answer["error"]
    assert (await emulator.control("GET", "nothing"))[0] == 404
