"""Bodies on the wire: gzip in both directions, and size limits."""

import gzip
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime

import orjson
import pytest
from aiohttp import ClientSession
from azure.batch.aio import BatchClient

from local.batch_emulator.protocol.auth import DEVELOPMENT_TOKEN
from tests.emulator.support.driver import API, JSON, Answer, Driver

_MIB = 1024 * 1024
_BEARER = {"Authorization": f"Bearer {DEVELOPMENT_TOKEN}"}


async def _raw(driver: Driver, path: str, accepted: str, method: str = "GET") -> tuple[bytes, Mapping[str, str]]:
    """Returns the raw bytes of an answer."""
    async with ClientSession(auto_decompress=False) as session:
        url = f"{driver.url}{path}?api-version={API}"
        async with session.request(method, url, headers={**_BEARER, "Accept-Encoding": accepted}) as answer:
            assert answer.status == 200
            return await answer.read(), answer.headers


async def _post(driver: Driver, path: str, body: bytes, **headers: str) -> Answer:
    sent = {**_BEARER, "Content-Type": JSON, **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with driver.session.post(f"{driver.url}{path}?api-version={API}", data=body, headers=sent) as answer:
        raw = await answer.read()
        return Answer(answer.status, answer.headers, orjson.loads(raw) if raw else None)


async def _twenty(driver: Driver) -> None:
    await driver.add_job()
    await driver.add_tasks("job", *["sleep 1"] * 20)


@pytest.mark.parametrize("accepted", ["gzip", "deflate, GZIP", "gzip;q=0.5, identity"])
async def test_answers_are_compressed_for_those_who_ask(stepped: Driver, accepted: str) -> None:
    await _twenty(stepped)
    plain, _ = await _raw(stepped, "/jobs/job/tasks", "identity")
    body, headers = await _raw(stepped, "/jobs/job/tasks", accepted)
    assert headers["Content-Encoding"] == "gzip"
    assert int(headers["Content-Length"]) == len(body) < len(plain) / 3
    assert gzip.decompress(body) == plain


@pytest.mark.parametrize("accepted", ["", "identity", "deflate, br", "gzip;q=0"])
async def test_answers_are_plain_for_the_others(stepped: Driver, accepted: str) -> None:
    await _twenty(stepped)
    body, headers = await _raw(stepped, "/jobs/job/tasks", accepted)
    assert "Content-Encoding" not in headers
    assert len(orjson.loads(body)["value"]) == 20


async def test_short_answers_are_not_worth_it(stepped: Driver) -> None:
    await stepped.add_job()
    body, headers = await _raw(stepped, "/jobs/job", "gzip")
    assert "Content-Encoding" not in headers
    assert orjson.loads(body)["id"] == "job"


async def test_the_official_client_reads_compressed_lists(stepped: Driver, client: BatchClient) -> None:
    await _twenty(stepped)
    found = [task.id async for task in client.list_tasks("job")]
    assert len(found) == 20
    _, headers = await _raw(stepped, "/jobs/job/tasks", "gzip, deflate")
    assert headers["Content-Encoding"] == "gzip"


async def test_a_compressed_request_is_taken(stepped: Driver) -> None:
    body = gzip.compress(orjson.dumps({"id": "packed", "poolInfo": {"poolId": "pool"}}))
    assert (await _post(stepped, "/jobs", body, Content_Encoding="gzip")).status == 201
    twice = orjson.dumps({"id": "parts", "poolInfo": {"poolId": "pool"}})
    members = gzip.compress(twice[:9], mtime=0) + gzip.compress(twice[9:])
    assert (await _post(stepped, "/jobs", members, Content_Encoding="gzip")).status == 201
    assert [job["id"] for job in await stepped.rows("/jobs")] == ["packed", "parts"]


async def test_a_shared_key_signs_the_coding_and_the_length_on_the_wire(stepped: Driver) -> None:
    body = gzip.compress(orjson.dumps({"id": "signed", "poolInfo": {"poolId": "pool"}}))
    url, length = f"{stepped.url}/jobs?api-version={API}", str(len(body))
    common = {
        "ocp-date": format_datetime(datetime.now(UTC), usegmt=True),
        "content-type": JSON,
        "content-length": length,
    }
    for signed, status in (({}, 403), ({"content-encoding": "gzip"}, 201)):
        signature = stepped.signature("POST", url, common | signed)
        sent = {**common, "content-encoding": "gzip", "authorization": f"SharedKey demo:{signature}"}
        async with stepped.session.post(url, data=body, headers=sent) as answer:
            assert answer.status == status


@pytest.mark.parametrize(
    ("body", "coding", "status", "code"),
    [
        (b"{}", "br", 400, "InvalidHeaderValue"),
        (zlib.compress(b"{}"), "deflate", 400, "InvalidHeaderValue"),
        (b"{}", "gzip, gzip", 400, "InvalidHeaderValue"),
        (b"not gzip at all", "gzip", 400, "InvalidRequestBody"),
        (gzip.compress(b"{}" * 500, mtime=0)[:-9], "gzip", 400, "InvalidRequestBody"),
        (gzip.compress(b" " * 50 * _MIB, mtime=0), "gzip", 413, "RequestBodyTooLarge"),
        (gzip.compress(b" " * _MIB, mtime=0) + gzip.compress(b" "), "gzip", 413, "RequestBodyTooLarge"),
    ],
)
async def test_invalid_compression_is_refused(
    stepped: Driver, body: bytes, coding: str, status: int, code: str
) -> None:
    answer = await _post(stepped, "/jobs", body, Content_Encoding=coding)
    assert (answer.status, answer.code) == (status, code)


async def test_a_body_may_have_a_mebibyte_and_no_more_however_it_is_framed(stepped: Driver) -> None:
    spec = {"id": "job", "poolInfo": {"poolId": "pool"}}
    text = orjson.dumps(spec)
    assert (await _post(stepped, "/jobs", text + b" " * (_MIB - len(text)))).status == 201
    answer = await _post(stepped, "/jobs", text + b" " * (_MIB - len(text) + 1))
    assert (answer.status, answer.code) == (413, "RequestBodyTooLarge")
    huge = await _post(stepped, "/jobs", b" " * 5 * _MIB)
    assert (huge.status, huge.code) == (413, "RequestBodyTooLarge")
    assert (await stepped.call("GET", "/jobs/job")).status == 200
