"""Every row of the documentation's filter tables, applied over HTTP to its list.

Each property is combined with every operator and every kind of literal. A documented filter must select exactly the
matching rows of the unfiltered list, judged here by the JSON alone. Any other filter must be refused with a reason.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.emulator.filters.filter_grid import conditions, expanded
from tests.emulator.support.conformance import read_json
from tests.emulator.support.driver import Driver

_PATHS: Mapping[str, str] = {
    "tasks": "/jobs/job/tasks",
    "jobs": "/jobs",
    "jobs_from_schedule": "/jobschedules/schedule/jobs",
    "jobschedules": "/jobschedules",
    "pools": "/pools",
    "nodes": "/pools/pool/nodes",
    "nodecounts": "/nodecounts",
    "supportedimages": "/supportedimages",
    "poolusagemetrics": "/poolusagemetrics",
    "jobpreparationandreleasetaskstatus": "/jobs/job/jobpreparationandreleasetaskstatus",
}
_SHOWN_AS = {"tasks lastModifiedTime": "lastModified"}
_LEAST: Mapping[str, int] = {"poolusagemetrics": 1, "supportedimages": 2}
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    name: getattr(operator, name) for name in ("eq", "ne", "ge", "gt", "le", "lt")
}


async def _stage(driver: Driver) -> None:
    """Creates rows of every kind: some completed, some failed, some not begun."""
    await driver.add_pool(startTask={"commandLine": "sleep 1; exit 5", "waitForSuccess": False})
    await driver.add_pool("empty", nodes=0, enableInterNodeCommunication=True)
    preparation, release = {"commandLine": "sleep 1"}, {"commandLine": "sleep 1; exit 5"}
    await driver.add_job(jobPreparationTask=preparation, jobReleaseTask=release)
    await driver.add_job("waiting", pool="none")
    await driver.add_tasks("job", "sleep 5", "sleep 5; exit 5", "sleep 5; exit 6", "sleep 100000")
    for name, more in (("schedule", {}), ("active", {"doNotRunUntil": "2026-02-01T00:00:00Z"})):
        body = {
            "id": name,
            "schedule": {"recurrenceInterval": "PT10M", "doNotRunAfter": "2026-03-01T00:00:00Z", **more},
            "jobSpecification": {"poolInfo": {"poolId": "pool"}, "onAllTasksComplete": "terminatejob"},
        }
        assert (await driver.call("POST", "/jobschedules", body)).status == 201
    await driver.advance(3600)
    await driver.call("POST", "/jobs/job/terminate")
    await driver.advance(60)


def _value(row: Any, path: str) -> Any:
    for part in path.split("/"):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def _plain(value: Any) -> Any:
    """Normalizes a value: ids and words ignore case; time stamps of 7 digits compare as text."""
    if not isinstance(value, str):
        return value
    if value[:4].isdecimal() and value.endswith("Z"):
        whole, _, fraction = value.removesuffix("Z").partition(".")
        return f"{whole}.{fraction:0<7}"
    return value.lower()


def _literal(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    if text.isdecimal():
        return int(text)
    return _plain(text.removeprefix("DateTime").strip("'"))


def _matches(row: Any, path: str, condition: str) -> bool:
    value = _plain(_value(row, path))
    if condition.startswith("startswith"):
        return isinstance(value, str) and value.startswith("a")
    _, name, literal = condition.split(" ", 2)
    if value is None:
        return name == "ne"
    return _COMPARE[name](value, _literal(literal))


@pytest.mark.parametrize("resource", _PATHS)
async def test_every_documented_filter_selects_its_rows_and_any_other_is_refused(
    stepped: Driver, resource: str
) -> None:
    documented = read_json("batch-rest/odata_filters.json")
    rows = {name: row for name, row in documented["jobs"].items() if name != "id"}
    rows = rows if resource == "jobs_from_schedule" else documented[resource]
    await _stage(stepped)
    url = _PATHS[resource]
    everything = await stepped.rows(url)
    assert len(everything) >= _LEAST.get(resource, 2)
    wrong = []
    for path, row in expanded(rows):
        shown = _SHOWN_AS.get(f"{resource} {path}", path)
        for condition, is_taken in conditions(resource, path, row):
            answer = await stepped.call("GET", url, _filter=condition)
            if is_taken:
                wanted = [each for each in everything if _matches(each, shown, condition)]
                is_right = answer.status == 200 and answer.body["value"] == wanted
            else:
                is_right = (answer.status, answer.code) == (400, "InvalidQueryParameterValue")
                is_right = (
                    is_right and answer.values["QueryParameterName"] == "$filter" and bool(answer.values["Reason"])
                )
            if not is_right:
                wrong.append((condition, is_taken, answer.status))
    assert wrong == []


async def test_files_are_filtered_by_the_beginning_of_their_names_only(stepped: Driver) -> None:
    """Covers the documentation's two tables of files, which the conformance data omits."""
    await _stage(stepped)
    node = (await stepped.rows("/pools/pool/nodes"))[0]["id"]
    for url in ("/jobs/job/tasks/t000/files", f"/pools/pool/nodes/{node}/files"):
        everything = await stepped.rows(url, recursive="true")
        for condition, is_taken in conditions("files", "name", "startswith:String"):
            answer = await stepped.call("GET", url, _filter=condition, recursive="true")
            assert answer.status == (200 if is_taken else 400), condition
        found = await stepped.rows(url, recursive="true", _filter="startswith(name, 'W')")
        assert found == [row for row in everything if row["name"].startswith("w")]
