"""Every operation with conditional headers honours each of them; a refused one changes nothing."""

import pytest

from local.batch_emulator.http.routing import OPERATIONS, Operation
from local.batch_emulator.protocol.conditions import CONDITIONAL
from tests.emulator.support.driver import Driver

_CONDITIONAL = [each for each in OPERATIONS if each.conditions == CONDITIONAL]
_IDS = {"{poolId}": "pool", "{jobId}": "job", "{taskId}": "t000", "{jobScheduleId}": "schedule"}
_LONG_AGO, _LATER = "Mon, 05 Jan 2015 08:00:00 GMT", "Mon, 05 Jan 2032 08:00:00 GMT"


def _path(operation: Operation) -> str:
    path = operation.template
    for name, value in _IDS.items():
        path = path.replace(name, value)
    return path


async def _everything(driver: Driver) -> None:
    await driver.add_pool(nodes=0)
    await driver.add_job()
    await driver.add_tasks("job", "true")
    specification = {"poolInfo": {"poolId": "pool"}}
    body = {"id": "schedule", "schedule": {"recurrenceInterval": "PT1H"}, "jobSpecification": specification}
    assert (await driver.call("POST", "/jobschedules", body)).status == 201


async def _state(driver: Driver) -> list[object]:
    paths = ("/pools/pool", "/jobs/job", "/jobs/job/tasks/t000", "/jobschedules/schedule")
    return [(await driver.call("GET", path)).body for path in paths]


@pytest.mark.parametrize("operation", _CONDITIONAL, ids=lambda each: each.name)
async def test_conditions_that_fail_are_refused_and_change_nothing(stepped: Driver, operation: Operation) -> None:
    await _everything(stepped)
    path, reads = _path(operation), operation.method in ("GET", "HEAD")
    body: dict[str, str] | None = None if reads or operation.method == "DELETE" else {}
    before = await _state(stepped)
    for headers, is_about_news in (
        ({"if-match": "0x8DA906245F34F9A"}, False),
        ({"if-unmodified-since": _LONG_AGO}, False),
        ({"if-none-match": "*"}, True),
        ({"if-modified-since": _LATER}, True),
    ):
        answer = await stepped.call(operation.method, path, body, headers=headers)
        assert answer.status == (304 if reads and is_about_news else 412), (operation.name, headers)
    assert await _state(stepped) == before
