"""Command lines: empty ones are refused, and those without `sleep` have known durations."""

from typing import Any

import pytest

from local.batch_emulator.core.stamps import SECOND, parse_stamp
from tests.emulator.support.direct import Direct

_CONTAINER = {"imageName": "registry.example/tool:1"}
_POOL = {"id": "new", "vmSize": "s"}
_JOB = {"id": "new", "poolInfo": {"poolId": "pool"}}
_PREPARED = {"jobPreparationTask": {"commandLine": "true"}}
_PLACES: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "task": ("/jobs/job/tasks", {"id": "new"}, ()),
    "start task": ("/pools", {**_POOL, "startTask": {}}, ("startTask",)),
    "manager": ("/jobs", {**_JOB, "jobManagerTask": {"id": "m"}}, ("jobManagerTask",)),
    "preparation": ("/jobs", {**_JOB, "jobPreparationTask": {}}, ("jobPreparationTask",)),
    "release": ("/jobs", {**_JOB, **_PREPARED, "jobReleaseTask": {}}, ("jobReleaseTask",)),
}


@pytest.mark.parametrize("place", _PLACES)
def test_an_empty_command_line_is_allowed_in_containers_only(place: str) -> None:
    path, body, names = _PLACES[place]
    missing = (400, "MissingRequiredProperty")
    assert _prepared().call("POST", path, _with(body, names, commandLine="")) == missing
    assert _prepared().call("POST", path, _with(body, names, containerSettings=_CONTAINER)) == missing
    direct = _prepared()
    assert direct.call("POST", path, _with(body, names, commandLine="", containerSettings=_CONTAINER))[0] == 201


def test_a_task_with_an_empty_command_line_runs_the_images_entry_point() -> None:
    direct = _prepared()
    body = {"id": "new", "commandLine": "", "containerSettings": _CONTAINER}
    assert direct.call("POST", "/jobs/job/tasks", body)[0] == 201
    direct.advance(30)
    task = direct.call("GET", "/jobs/job/tasks/new")[1]
    assert (task["commandLine"], task["state"], task["executionInfo"]["exitCode"]) == ("", "completed", 0)


@pytest.mark.parametrize(
    "command_line", ["", "true", "python3 train.py --epochs 300", "/bin/sh -c 'make -j8; exit 3'", "echo asleep 60"]
)
def test_a_command_that_does_not_sleep_ends_in_well_under_a_second(command_line: str) -> None:
    direct = _prepared()
    rows = [{"id": f"t{n}", "commandLine": command_line, "containerSettings": _CONTAINER} for n in range(20)]
    assert direct.call("POST", "/jobs/job/addtaskcollection", {"value": rows})[0] == 200
    direct.advance(120)
    runs = [row["executionInfo"] for row in direct.rows("/jobs/job/tasks")]
    seconds = [(parse_stamp(run["endTime"]) - parse_stamp(run["startTime"])) / SECOND for run in runs]
    assert len(seconds) == len(rows)
    assert max(seconds) < 0.5


def _prepared() -> Direct:
    direct = Direct(1)
    assert (
        direct.call("POST", "/pools", {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 1})[0] == 201
    )
    assert direct.call("POST", "/jobs", {"id": "job", "poolInfo": {"poolId": "pool"}})[0] == 201
    direct.advance(120)
    return direct


def _with(body: dict[str, Any], names: tuple[str, ...], **added: Any) -> dict[str, Any]:
    if not names:
        return {**body, **added}
    return {**body, names[0]: _with(body[names[0]], names[1:], **added)}
