"""Conditional headers are honoured where the service accepts them, refused elsewhere."""

import pytest

from tests.emulator.support.driver import Driver

_BEFORE, _AFTER = "Mon, 05 Jan 2026 07:59:59 GMT", "Mon, 05 Jan 2026 08:00:01 GMT"


async def _tag(driver: Driver) -> str:
    return str((await driver.call("GET", "/jobs/job")).headers["ETag"])


async def test_an_etag_is_the_hexadecimal_net_ticks_of_last_modified(stepped: Driver) -> None:
    await stepped.add_job()
    answer = await stepped.call("GET", "/jobs/job")
    assert answer.headers["ETag"] == answer.body["eTag"] == "0x8DE4C306CC24000"
    assert answer.headers["Last-Modified"] == "Mon, 05 Jan 2026 08:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"if-match": "TAG"}, 200),
        ({"if-match": '"TAG"'}, 200),
        ({"if-match": "*"}, 200),
        ({"if-match": "0x1, TAG"}, 200),
        ({"if-match": "0x1"}, 412),
        ({"if-none-match": "TAG"}, 304),
        ({"if-none-match": "*"}, 304),
        ({"if-none-match": "0x1"}, 200),
        ({"if-modified-since": _BEFORE}, 200),
        ({"if-modified-since": _AFTER}, 304),
        ({"if-unmodified-since": _BEFORE}, 412),
        ({"if-unmodified-since": _AFTER}, 200),
        ({"if-modified-since": "lately"}, 400),
    ],
)
async def test_reads_honour_conditions(stepped: Driver, headers: dict[str, str], status: int) -> None:
    await stepped.add_job()
    tag = await _tag(stepped)
    sent = {name: value.replace("TAG", tag) for name, value in headers.items()}
    answer = await stepped.call("GET", "/jobs/job", headers=sent)
    assert answer.status == status
    assert answer.body is None if status == 304 else answer.body


@pytest.mark.parametrize(
    "headers",
    [{"if-match": "0x1"}, {"if-none-match": "TAG"}, {"if-none-match": "*"}, {"if-unmodified-since": _BEFORE}],
)
async def test_a_write_whose_condition_fails_changes_nothing(stepped: Driver, headers: dict[str, str]) -> None:
    await stepped.add_job()
    tag = await _tag(stepped)
    sent = {name: value.replace("TAG", tag) for name, value in headers.items()}
    answer = await stepped.call("PATCH", "/jobs/job", {"priority": 9}, headers=sent)
    assert (answer.status, answer.code) == (412, "ConditionNotMet")
    assert (await stepped.call("DELETE", "/jobs/job", headers=sent)).status == 412
    unchanged = (await stepped.call("GET", "/jobs/job")).body
    assert (unchanged["priority"], unchanged["eTag"], unchanged["state"]) == (0, tag, "active")


@pytest.mark.parametrize("path", ["/jobs", "/jobs/job/tasks", "/jobs/job/taskcounts", "/pools", "/nodecounts"])
async def test_operations_that_take_no_conditions_refuse_them(stepped: Driver, path: str) -> None:
    await stepped.add_job()
    answer = await stepped.call("GET", path, headers={"if-none-match": "*"})
    assert (answer.status, answer.code) == (400, "UnsupportedHeader")


async def test_state_changes_move_neither_the_etag_nor_last_modified(stepped: Driver) -> None:
    await stepped.add_pool()
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 1")
    before, job_before = await stepped.task(), (await stepped.call("GET", "/jobs/job")).body
    await stepped.advance(100)
    await stepped.call("POST", "/jobs/job/terminate")
    await stepped.advance(10)
    after, job_after = await stepped.task(), (await stepped.call("GET", "/jobs/job")).body
    assert (after["state"], job_after["state"]) == ("completed", "completed")
    for old, new in ((before, after), (job_before, job_after)):
        assert (new["eTag"], new["lastModified"]) == (old["eTag"], old["lastModified"])
        assert new["stateTransitionTime"] > old["stateTransitionTime"]


async def test_every_change_of_a_job_moves_its_etag_even_within_an_instant(stepped: Driver) -> None:
    await stepped.add_job()
    tags = [await _tag(stepped)]
    for priority in (1, 2):
        written = await stepped.call("PATCH", "/jobs/job", {"priority": priority})
        assert written.headers["ETag"] == await _tag(stepped)
        tags.append(written.headers["ETag"])
    assert len(set(tags)) == 3
