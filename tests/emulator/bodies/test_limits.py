"""Documented maximum lengths and sizes."""

import asyncio
import time

import pytest

from tests.emulator.support.driver import Driver

_POOL = {"id": "p", "vmSize": "standard_d2s_v5"}
_JOB = {"id": "j", "poolInfo": {"poolId": "p"}}
_TASK = {"id": "t", "commandLine": "true"}
_AUTO = {"poolLifetimeOption": "job", "pool": {"vmSize": "standard_d2s_v5"}}


async def test_numbers_and_headers_beyond_all_measure_are_refused_in_words(stepped: Driver) -> None:
    digits = "9" * 5000
    answer = await stepped.call("GET", "/jobs", maxresults=digits)
    assert (answer.status, answer.code) == (400, "OutOfRangeQueryParameterValue")
    assert (await stepped.call("GET", "/jobs", timeout=digits)).status == 200
    await stepped.control("POST", "settings", {"latencySeconds": 0.01})
    assert (await stepped.call("GET", "/jobs", timeout=digits)).status == 200


@pytest.mark.parametrize("headers", [{}, {"x-long": "x" * 17_000}])
async def test_a_request_with_a_line_that_is_too_long_is_refused_in_the_services_shape(
    stepped: Driver, headers: dict[str, str]
) -> None:
    filters = "id eq 'x'" if headers else f"id eq '{'x' * 100_000}'"
    answer = await stepped.call("GET", "/jobs", headers=headers, _filter=filters)
    assert (answer.status, answer.code) == (400, "InvalidInput")
    assert answer.values == {"Reason": "The request's line and each of its headers have at most 16384 bytes."}
    assert answer.headers["request-id"] in answer.body["message"]["value"]
    assert (await stepped.call("GET", "/jobs")).status == 200


async def test_headers_that_are_not_text_are_answered_like_any_other(stepped: Driver) -> None:
    host, port = stepped.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = (b"GET /jobs?api-version=2025-06-01 HTTP/1.1", b"Host: \xff", b"client-request-id: \xff")
    more = (b"return-client-request-id: true", b"If-Match: \xff", b"Authorization: Bearer \xff", b"Connection: close")
    writer.write(b"\r\n".join((*lines, *more, b"", b"")))
    answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 401")
    assert b"AuthenticationFailed" in answer


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/pools", {**_POOL, "id": "x" * 65}, "id"),
        ("/jobs/job/tasks", {**_TASK, "id": "x" * 65}, "id"),
        ("/pools", {**_POOL, "displayName": "é" * 1025}, "displayName"),
        ("/jobs", {**_JOB, "displayName": "x" * 1025}, "displayName"),
        ("/jobs/job/tasks", {**_TASK, "displayName": "x" * 1025}, "displayName"),
        ("/pools", {**_POOL, "resizeTimeout": "PT4M59S"}, "resizeTimeout"),
        ("/pools", {**_POOL, "resizeTimeout": "5 minutes"}, "resizeTimeout"),
        ("/pools/pool/resize", {"targetDedicatedNodes": 1, "resizeTimeout": "PT1M"}, "resizeTimeout"),
        ("/pools", {**_POOL, "taskSlotsPerNode": 257}, "taskSlotsPerNode"),
        ("/pools", {**_POOL, "targetDedicatedNodes": 2501}, "targetDedicatedNodes"),
        ("/pools", {**_POOL, "userAccounts": [{"name": "x" * 21, "password": "y"}]}, "userAccounts.name"),
        (
            "/jobs",
            {**_JOB, "poolInfo": {"autoPoolSpecification": {**_AUTO, "autoPoolIdPrefix": "x" * 21}}},
            "autoPoolIdPrefix",
        ),
        ("/jobs/job/tasks", {**_TASK, "environmentSettings": "A=1"}, "environmentSettings"),
        ("/jobs/job/tasks", {**_TASK, "environmentSettings": [7]}, "environmentSettings"),
        ("/jobs", {**_JOB, "commonEnvironmentSettings": {"A": "1"}}, "commonEnvironmentSettings"),
    ],
)
async def test_values_beyond_documented_limits_are_refused_by_name(
    stepped: Driver, path: str, body: object, name: str
) -> None:
    await stepped.add_pool()
    await stepped.advance(60)
    await stepped.add_job()
    answer = await stepped.call("POST", path, body)
    assert (answer.status, answer.code) == (400, "InvalidPropertyValue")
    assert answer.values["PropertyName"] == name


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/pools", {**_POOL, "displayName": "é" * 1024, "resizeTimeout": "PT5M"}),
        ("/pools", {**_POOL, "taskSlotsPerNode": 256, "userAccounts": [{"name": "x" * 20, "password": "y"}]}),
        ("/jobs", {**_JOB, "id": "x" * 64}),
        ("/jobs", {**_JOB, "poolInfo": {"autoPoolSpecification": {**_AUTO, "autoPoolIdPrefix": "x" * 20}}}),
        ("/jobs/job/tasks", {**_TASK, "commandLine": "x" * 500_000}),
        ("/jobs/job/tasks", {**_TASK, "environmentSettings": [{"name": "A", "value": "1"}, {"name": "B"}]}),
    ],
)
async def test_values_at_documented_limits_are_taken(stepped: Driver, path: str, body: object) -> None:
    await stepped.add_job()
    assert (await stepped.call("POST", path, body)).status == 201


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/pools", {**_POOL, "metadata": [{"name": "", "value": "x"}]}, "EmptyMetadataKey"),
        ("/jobs", {**_JOB, "metadata": [{"value": "x"}]}, "EmptyMetadataKey"),
        ("/jobs/job/tasks", {**_TASK, "environmentSettings": [{"value": "x"}]}, "MissingRequiredProperty"),
        (
            "/pools",
            {**_POOL, "startTask": {"commandLine": "x", "environmentSettings": [{}]}},
            "MissingRequiredProperty",
        ),
        (
            "/jobs",
            {**_JOB, "jobPreparationTask": {"commandLine": "x", "environmentSettings": [{}]}},
            "MissingRequiredProperty",
        ),
        ("/jobs/job/tasks", {**_TASK, "commandLine": ""}, "MissingRequiredProperty"),
    ],
)
async def test_missing_names_are_refused(stepped: Driver, path: str, body: object, code: str) -> None:
    await stepped.add_job()
    answer = await stepped.call("POST", path, body)
    assert (answer.status, answer.code) == (400, code)


async def test_a_collection_has_at_most_a_hundred_tasks_and_a_mebibyte(stepped: Driver) -> None:
    await stepped.add_job()
    rows = [{"id": f"t{number}", "commandLine": "true"} for number in range(101)]
    answer = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": rows})
    assert (answer.status, answer.code) == (400, "InvalidPropertyValue")
    rows = [{"id": f"t{number}", "commandLine": "x" * 11_000} for number in range(100)]
    answer = await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": rows})
    assert (answer.status, answer.code) == (413, "RequestBodyTooLarge")
    assert (await stepped.call("POST", "/jobs/job/addtaskcollection", {"value": rows[:50]})).status == 200
    assert len(await stepped.rows("/jobs/job/tasks")) == 50


async def test_requests_beyond_their_time_out_fail_without_effect(stepped: Driver) -> None:
    await stepped.control("POST", "faults", {"path": "/jobs", "delaySeconds": 5, "count": 1})
    began = time.monotonic()
    answer = await stepped.call("POST", "/jobs", _JOB, timeOut=1)
    assert 1 <= time.monotonic() - began < 4
    assert (answer.status, answer.code) == (500, "OperationTimedOut")
    assert await stepped.rows("/jobs") == []
    await stepped.control("POST", "faults", {"path": "/jobs", "delaySeconds": 0.1, "count": 1})
    assert (await stepped.call("POST", "/jobs", _JOB, timeout=1)).status == 201


@pytest.mark.parametrize("text", ["", "-1", "soon", "1.5"])
async def test_a_time_out_is_a_number_of_seconds(stepped: Driver, text: str) -> None:
    answer = await stepped.call("GET", "/jobs", timeout=text)
    assert (answer.status, answer.values["QueryParameterName"]) == (400, "timeout")
