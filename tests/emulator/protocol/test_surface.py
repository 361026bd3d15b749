"""Answers to requests that the emulator doesn't support, or that are wrong."""

import pytest

from local.batch_emulator.http.routing import OPERATIONS
from tests.emulator.support.conformance import conformance
from tests.emulator.support.driver import API, Driver

_RETIRED = {("GET", "/nodeagentskus")}  # of api-versions before 2019-06-01


def test_every_operation_of_the_service_is_there() -> None:
    rows = (
        line.split() for line in conformance("batch-rest/rest_surface.txt").read_text(encoding="utf-8").splitlines()
    )
    documented = {(row[0], row[1]) for row in rows if len(row) > 1 and row[1].startswith("/")}
    assert {(operation.method, operation.template) for operation in OPERATIONS} == documented | _RETIRED


async def test_an_unknown_path_and_an_unknown_verb_are_refused(stepped: Driver) -> None:
    answer = await stepped.call("GET", "/nothing/here")
    assert (answer.status, answer.code) == (404, "ResourceNotFound")
    assert answer.body["message"]["value"].count("\n") == 2
    assert "RequestId:" + answer.headers["request-id"] in answer.body["message"]["value"]
    answer = await stepped.call("PUT", "/jobs", {})
    assert (answer.status, answer.code) == (405, "UnsupportedHttpVerb")


async def test_the_api_version_must_be_one_that_is_known(stepped: Driver) -> None:
    unknown = await stepped.follow("GET", f"{stepped.url}/jobs?api-version=2019-01-01")
    assert (unknown.status, unknown.code) == (400, "UnsupportedRequestVersion")
    assert unknown.values["QueryParameterName"] == "api-version"
    absent = await stepped.follow("GET", f"{stepped.url}/jobs")
    assert (absent.status, absent.code) == (400, "MissingRequiredQueryParameter")


async def test_query_names_have_no_case_and_unknown_ones_are_refused(stepped: Driver) -> None:
    assert (await stepped.follow("GET", f"{stepped.url}/jobs?API-Version={API}&timeOut=5&MaxResults=1")).status == 200
    answer = await stepped.call("GET", "/jobs", top="5")
    assert (answer.status, answer.code) == (400, "UnsupportedQueryParameter")
    assert answer.values == {"QueryParameterName": "top", "QueryParameterValue": "5"}
    assert (await stepped.call("GET", "/pools", force="true")).status == 400


async def test_headers_are_those_of_the_service(stepped: Driver) -> None:
    asked = {"client-request-id": "mine", "return-client-request-id": "true"}
    answer = await stepped.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}}, headers=asked)
    assert answer.status == 201
    assert answer.headers["Date"] == "Mon, 05 Jan 2026 08:00:00 GMT"
    assert answer.headers["Server"] == "Microsoft-HTTPAPI/2.0"
    assert answer.headers["DataServiceVersion"] == "3.0"
    assert answer.headers["client-request-id"] == "mine"
    assert answer.headers["Location"] == answer.headers["DataServiceId"] == f"{stepped.url}/jobs/job"
    silent = await stepped.call("GET", "/jobs", headers={"client-request-id": "mine"})
    assert "client-request-id" not in silent.headers
    assert silent.headers["Content-Type"] == "application/json;odata=minimalmetadata"
    assert "ETag" not in silent.headers


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"poolInfo": {"poolId": "p"}}, "MissingRequiredProperty"),
        ({"id": "job"}, "MissingRequiredProperty"),
        ({"id": "a:b", "poolInfo": {"poolId": "p"}}, "InvalidPropertyValue"),
        ({"id": "x" * 65, "poolInfo": {"poolId": "p"}}, "InvalidPropertyValue"),
        ({"id": "job", "poolInfo": {"poolId": "p"}, "priority": 1001}, "InvalidPropertyValue"),
        ({"id": "job", "poolInfo": {"poolId": "p"}, "onAllTasksComplete": "maybe"}, "InvalidPropertyValue"),
        ({"id": "job", "poolInfo": {"poolId": "p"}, "colour": "red"}, "UnsupportedProperty"),
        ({"id": "job", "poolInfo": "p"}, "InvalidPropertyValue"),
        ([], "InvalidRequestBody"),
    ],
)
async def test_a_wrong_job_is_refused_with_its_code(stepped: Driver, body: object, code: str) -> None:
    answer = await stepped.call("POST", "/jobs", body)
    assert (answer.status, answer.code) == (400, code)
    assert await stepped.rows("/jobs") == []


async def test_unsupported_features_are_501(stepped: Driver) -> None:
    body = {"id": "p", "vmSize": "s", "enableAutoScale": True, "autoScaleFormula": "x = $MemoryBytes"}
    answer = await stepped.call("POST", "/pools", body)
    assert (answer.status, answer.code) == (501, "NotImplemented")
    assert (await stepped.call("GET", "/jobs", _expand="stats")).status == 200
    assert (await stepped.call("GET", "/jobs", _expand="all")).status == 400


async def test_a_collection_reports_each_task(stepped: Driver) -> None:
    await stepped.add_job()
    good = {"id": "good", "commandLine": "true"}
    rows = [good, {"id": "GOOD", "commandLine": "true"}, {"id": "b c", "commandLine": "true"}, {"id": "idle"}]
    answer = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": rows})
    assert answer.status == 200
    results = [(row["status"], row.get("error", {}).get("code")) for row in answer.body["value"]]
    assert results == [
        ("Success", None),
        ("ClientError", "TaskExists"),
        ("ClientError", "InvalidPropertyValue"),
        ("ClientError", "MissingRequiredProperty"),
    ]
    again = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": [good]})
    assert again.body["value"][0]["error"]["code"] == "TaskExists"
    many = [{"id": f"t{number}", "commandLine": "true"} for number in range(101)]
    assert (await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": many})).status == 400
    heavy = [{"id": "heavy", "commandLine": "x" * 1024 * 1024}]
    refused = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": heavy})
    assert (refused.status, refused.code) == (413, "RequestBodyTooLarge")
    assert len(await stepped.rows("/jobs/job/tasks")) == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/jobs/job/tasks", {"id": "t", "commandLine": "true", "resourceFiles": "x"}),
        ("/jobs/job/tasks", {"id": "t", "commandLine": 5}),
        ("/jobs/job/tasks", {"id": "t", "commandLine": "true", "requiredSlots": 0}),
        ("/jobs/job/tasks", {"id": "t", "commandLine": "true", "constraints": 7}),
        ("/pools", {"id": "p", "vmSize": 5}),
        ("/pools", {"id": "p", "vmSize": "s", "taskSlotsPerNode": 257}),
        ("/pools", {"id": "p", "vmSize": "s", "startTask": {}, "targetDedicatedNodes": "many"}),
        ("/pools", {"id": "p", "vmSize": "s", "startTask": {"commandLine": "x", "maxTaskRetryCount": "x"}}),
    ],
)
async def test_a_value_of_the_wrong_kind_is_refused_at_once(stepped: Driver, path: str, body: object) -> None:
    await stepped.add_job()
    answer = await stepped.call("POST", path, body)
    assert (answer.status, answer.code) == (400, "InvalidPropertyValue")


async def test_operations_that_do_not_fit_a_state_are_conflicts(stepped: Driver) -> None:
    await stepped.add_job()
    await stepped.add_tasks("job", "true")
    assert (await stepped.call("POST", "/jobs/job/enable")).code == "OperationInvalidForCurrentState"
    assert (await stepped.call("POST", "/jobs/job/tasks/t000/reactivate")).code == "TaskNotCompleted"
    await stepped.call("POST", "/jobs/job/terminate")
    assert (await stepped.call("POST", "/jobs/job/terminate")).code == "JobBeingTerminated"
    await stepped.advance(10)
    late = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": [{"id": "x", "commandLine": "true"}]})
    assert (late.status, late.code) == (409, "JobCompleted")
    assert (await stepped.task())["state"] == "active"
    await stepped.call("DELETE", "/jobs/job")
    assert (await stepped.call("DELETE", "/jobs/job")).code == "JobBeingDeleted"
    await stepped.add_pool()
    resized = await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1})
    assert (resized.status, resized.code) == (409, "PoolBeingResized")
