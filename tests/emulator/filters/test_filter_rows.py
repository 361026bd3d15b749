"""The filters that each list accepts, against the documentation's rows: our copy and, where available, the original."""

from collections.abc import Mapping
from types import SimpleNamespace

import pytest

from local.batch_emulator.core.collation import fold
from local.batch_emulator.core.errors import BatchError
from local.batch_emulator.filtering import filter_rows
from local.batch_emulator.filtering.filter_rows import FilterProperties
from local.batch_emulator.filtering.filters import compile_filter
from tests.emulator.filters.filter_grid import conditions, expanded
from tests.emulator.support.conformance import read_json

LISTS: Mapping[str, FilterProperties] = {
    "tasks": filter_rows.TASKS,
    "jobs": filter_rows.JOBS,
    "jobs_from_schedule": filter_rows.JOBS_OF_SCHEDULE,
    "jobschedules": filter_rows.SCHEDULES,
    "pools": filter_rows.POOLS,
    "nodes": filter_rows.NODES,
    "nodecounts": filter_rows.NODE_COUNTS,
    "supportedimages": filter_rows.IMAGES,
    "poolusagemetrics": filter_rows.POOL_USAGE,
    "jobpreparationandreleasetaskstatus": filter_rows.PREPARATIONS,
}
OWN = """
tasks id all startswith
tasks state same
tasks executionInfo/result same
tasks executionInfo/exitCode all
tasks lastModifiedTime all
jobs executionInfo/poolId all startswith
jobs lastModified all
jobs_from_schedule state same
jobschedules schedule/doNotRunAfter all
jobschedules executionInfo/endTime all
pools allocationState eq
pools vmSize same
pools enableAutoScale same
nodes startTaskInfo/state eq
nodes startTaskInfo/exitCode all
nodecounts poolId eq
supportedimages osType same
poolusagemetrics poolId eq ge gt le lt startswith
jobpreparationandreleasetaskstatus nodeId same
jobpreparationandreleasetaskstatus jobReleaseTaskExecutionInfo/state same
"""
_KINDS = {"exitCode": "Int", "enableAutoScale": "Boolean"}
_WORDS = {"all": "eq ne ge gt le lt", "same": "eq ne"}


def _takes(resource: str, condition: str) -> bool:
    try:
        compile_filter(condition, LISTS[resource], fold)
    except BatchError as refusal:
        if (refusal.status, refusal.code) != (400, "InvalidQueryParameterValue") or not refusal.values["Reason"]:
            raise
        return False
    return True


def _wrong(resource: str, path: str, row: str) -> list[str]:
    return [text for text, wanted in conditions(resource, path, row) if _takes(resource, text) != wanted]


def _kind(path: str) -> str:
    last = path.rpartition("/")[2]
    return _KINDS.get(last, "DateTime" if last.endswith(("Time", "Modified", "After", "Until")) else "String")


@pytest.mark.parametrize("line", OWN.strip().splitlines())
def test_a_property_takes_its_operators_and_literals_and_no_others(line: str) -> None:
    resource, path, *operators = line.split()
    allowed = " ".join(_WORDS.get(each, each) for each in operators)
    assert _wrong(resource, path, f"{allowed}:{_kind(path)}") == []


def test_every_row_of_the_documentation_holds_and_there_are_no_others() -> None:
    documented = read_json("batch-rest/odata_filters.json")
    jobs = documented["jobs"]
    documented["jobs_from_schedule"] = {name: row for name, row in jobs.items() if name != "id"}
    tried = 0
    for resource, rows in LISTS.items():
        wanted = dict(expanded(documented[resource]))
        assert set(wanted) == set(rows), resource
        for path, row in wanted.items():
            assert _wrong(resource, path, row) == []
            tried += sum(1 for _ in conditions(resource, path, row))
    assert tried > 600


@pytest.mark.parametrize(
    "condition",
    [
        "ID eq 'x'",
        "id EQ 'x'",
        "id eq 'x' AND id eq 'y'",
        "StartsWith(id, 'x')",
        "startswith id 'x'",
        "state eq active",
        "state eq null",
        "executionInfo/exitCode eq 1.5",
        "executionInfo/exitCode eq 2147483648",
        f"executionInfo/exitCode eq {'9' * 5000}",
        "creationTime ge DateTime'2026-02-30T00:00:00Z'",
        "creationTime ge DateTime'2026-01-01T00:00:00.12345678Z'",
        "creationTime ge DateTime'2026-01-01T25:00:00Z'",
        "creationTime ge datetimeoffset'2026-01-01T00:00:00Z'",
        "(" * 2000 + "id eq 'x'" + ")" * 2000,
        "id eq 'x' id eq 'y'",
        "id in ('x','y')",
        "id eq 'it's'",
        "length(id) eq 3",
        " ",
    ],
)
def test_undocumented_filters_are_refused(condition: str) -> None:
    assert not _takes("tasks", condition)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("state eq 'ACTIVE'", True),
        ("id eq 'TaSk'", True),
        ("id ge 'TASK'", True),
        ("startswith(id,'TA') and state ne 'running'", True),
        ("executionInfo/result ne 'success'", True),
        ("executionInfo/exitCode ne 0", True),
        ("executionInfo/exitCode lt 5", False),
        ("executionInfo/endTime le DateTime'2030-01-01'", False),
        ("creationTime eq DateTime'1970-01-01T00:00Z'", True),
        ("creationTime lt datetime'1970-01-01T02:00:01+02:00'", True),
        ("((id eq 'x') or (id eq 'task')) and ((state eq 'active'))", True),
        ("id eq 'x' or id eq 'y' and state eq 'active' or id eq 'task'", True),
    ],
)
def test_words_have_no_case_and_absent_values_only_differ(condition: str, *, wanted: bool) -> None:
    task = SimpleNamespace(id="Task", state="active", created=0, ended=None, exit_code=None, result=None)
    assert compile_filter(condition, LISTS["tasks"], fold).matches(task) is wanted
