"""The task list, one task in full and the timeline, compared through the app with the official client."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import Answer, World

pytestmark = pytest.mark.asyncio(loop_scope="session")
type Value = Callable[[dict[str, Any]], Any]
TASKS = "accounts/demo/jobs/alpha/tasks"
SECRET = "Tr0ub4dor-and-3"


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    return await _running.staged_once(stage)


async def stage(world: World) -> None:
    """Stages tasks that failed, succeeded, run and wait; 3 nodes with 2 slots each."""
    await add_pool(world.batch, nodes=3)
    await add_job(world.batch, "alpha")
    await add_tasks(world.batch, 6, job="alpha", command="sleep 2; exit 3", prefix="bad")
    await add_tasks(world.batch, 6, job="alpha", command="sleep 5", prefix="good")
    world.advance(200)
    await add_tasks(world.batch, 9, job="alpha", command="sleep 10000", prefix="long")
    world.advance(100)
    await world.poll()


async def _rows(world: World, path: str) -> list[dict[str, Any]]:
    """Returns the entries of all pages."""
    rows: list[dict[str, Any]] = []
    while path:
        answer = await world.get(path)
        assert answer.status == 200, answer.body
        rows += answer.body["value"]
        path = answer.body.get("nextLink", "").partition("/api/")[2]
    return rows


async def _ids(world: World, query: str) -> list[str]:
    return [task["id"] for task in await _rows(world, f"{TASKS}?{query}")]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_tasks_are_filtered_by_their_properties(staged: World) -> None:
    every = await _rows(staged, TASKS)
    assert len(every) == 21
    filters: dict[str, Callable[[dict[str, Any]], bool]] = {
        "state=running": lambda task: task["state"] == "running",
        "state=active&prefix=LONG": lambda task: task["state"] == "active",
        "result=failure": lambda task: task["result"] == "failure",
        "exitCode=0": lambda task: task["exitCode"] == 0,
        "poolId=POOL": lambda task: task["poolId"] == "pool",
        f"nodeId={every[0]['nodeId'].upper()}": lambda task: task["nodeId"] == every[0]["nodeId"],
        "prefix=Go&result=success": lambda task: task["id"].startswith("good"),
    }
    for query, wanted in filters.items():
        expected = [task["id"] for task in every if wanted(task)]
        assert await _ids(staged, f"{query}&maxpagesize=4") == expected, query
        assert expected, query


async def test_a_group_of_failures_lists_its_tasks(staged: World) -> None:
    groups = (await staged.get("accounts/demo/jobs/alpha/failures")).body["groups"]
    assert [group["count"] for group in groups] == [6]
    found = await _rows(staged, f"{TASKS}?failureGroup={groups[0]['id']}&maxpagesize=4")
    assert [task["id"] for task in found] == [f"bad-{number:05}" for number in range(6)]


async def test_tasks_come_in_the_order_of_any_of_their_times(staged: World) -> None:
    every = await _rows(staged, TASKS)

    def span(task: dict[str, Any], start: str, end: str) -> float | None:
        return (_moment(task[end]) - _moment(task[start])).total_seconds() if task[start] and task[end] else None

    def moment(name: str) -> Value:
        return lambda task: _moment(task[name]) if task[name] else None

    values: dict[str, Value] = {
        "runTime": lambda task: span(task, "startTime", "endTime"),
        "waitTime": lambda task: None if task["retryCount"] else span(task, "creationTime", "startTime"),
        **{name: moment(name) for name in ("startTime", "endTime", "creationTime")},
    }
    for name, value in values.items():
        for direction in ("", "%20desc"):
            found = await _rows(staged, f"{TASKS}?orderby={name}{direction}&maxpagesize=4")
            known = [value(task) for task in found if value(task) is not None]
            assert known == sorted(known, reverse=bool(direction)), name
            assert [value(task) is None for task in found] == sorted(value(task) is None for task in found)
            assert sorted(task["id"] for task in found) == [task["id"] for task in every]
    assert await _ids(staged, "orderby=id%20desc&maxpagesize=4") == [task["id"] for task in every][::-1]


@pytest.mark.parametrize(
    ("query", "target", "words"),
    [
        ("orderby=size", "orderby", "one of creationTime, creationTime desc, endTime"),
        ("maxpagesize=1001", "maxpagesize", "a whole number from 1 to 1000, with format=csv to 100000"),
        ("maxpagesize=100001&format=csv", "maxpagesize", "a whole number from 1 to 100000"),
        ("maxpagesize=25001&format=csv&orderby=endTime", "maxpagesize", "or to 25000 in another order than by id"),
        ("continuation=nonsense", "continuation", "follow nextLink as it is"),
        ("continuation=ÿ", "continuation", "follow nextLink as it is"),
        ("continuation=WyJpZCIsZmFsc2UsMCwiQSJd", "continuation", "follow nextLink as it is"),
        ("failureGroup=1&colour=red", "colour", "Known are"),
    ],
)
async def test_invalid_list_parameters_are_refused_in_a_sentence(
    world: World, query: str, target: str, words: str
) -> None:
    answer = await world.get(f"{TASKS}?{query}")
    assert answer.status == 400
    assert answer.body["error"]["target"] == target
    assert words in answer.body["error"]["message"]


async def test_a_continuation_is_good_for_its_own_order_only(staged: World) -> None:
    link = (await staged.get(f"{TASKS}?orderby=startTime&maxpagesize=2")).body["nextLink"].partition("/api/")[2]
    assert (await staged.get(link)).status == 200
    other = await staged.get(link.replace("orderby=startTime", "orderby=endTime"))
    assert (other.status, other.body["error"]["target"]) == (400, "continuation")


async def test_a_table_takes_all_tasks_at_once_or_goes_on_by_its_link(staged: World) -> None:
    whole = await staged.get(f"{TASKS}?format=csv&maxpagesize=100000&orderby=id")
    assert (await staged.get(f"{TASKS}?format=csv&maxpagesize=25000&orderby=startTime")).status == 200
    assert "link" not in whole.headers
    every = await _rows(staged, TASKS)
    table = list(csv.DictReader(io.StringIO(whole.body)))
    assert [row["id"] for row in table] == [task["id"] for task in every]
    exits = [None if row["exitCode"] == "" else int(row["exitCode"]) for row in table]
    assert exits == [task["exitCode"] for task in every]
    found: list[str] = []
    path = f"{TASKS}?format=csv&maxpagesize=10&orderby=startTime%20desc"
    while path:
        part = await staged.get(path)
        found += [row["id"] for row in csv.DictReader(io.StringIO(part.body))]
        path = part.headers.get("link", "").removeprefix("<").partition(">")[0].partition("/api/")[2]
    assert sorted(found) == [task["id"] for task in every]


def _plain(value: Any) -> Any:
    """Returns JSON without nulls and empty lists, as the client omits properties."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items() if part not in (None, [])}
    return [_plain(part) for part in value] if isinstance(value, list) else value


async def test_a_task_in_full_equals_the_official_clients_answer(staged: World) -> None:
    for name in ("bad-00001", "good-00003", "long-00000", "long-00008"):
        answer = await staged.get(f"{TASKS}/{name.upper() if name.startswith('bad') else name}")
        assert answer.status == 200, answer.body
        known = (await staged.batch.get_task("alpha", name)).as_dict()
        known.pop("odata.metadata")
        ours = ("omittedProperties", "exitCodeText", "cached", "cachedAsOf")
        shown = {name: part for name, part in answer.body.items() if name not in ours}
        assert _plain(shown) == _plain(known)
        assert answer.body["omittedProperties"] == []
        code = answer.body["cached"]["exitCode"]
        assert (answer.body["exitCodeText"] or "").startswith("" if code is None else f"exit code {code}")
        listed = (await staged.get(f"{TASKS}?prefix={name}")).body["value"]
        assert [answer.body["cached"]] == listed
        assert answer.body["cachedAsOf"]


async def test_secrets_of_a_task_do_not_leave(staged: World) -> None:
    address = f"https://a.blob.core.windows.net/c/b?sv=1&sig={SECRET}"
    await staged.batch.create_task(
        "alpha",
        models.BatchTaskCreateOptions(
            id="secretive",
            command_line=f"run --password {SECRET}",
            environment_settings=[models.EnvironmentSetting(name="MODE", value=SECRET)],
            resource_files=[models.ResourceFile(http_url=address, file_path="b")],
            display_name=f"AccountKey={SECRET}",
        ),
    )
    answer = await staged.get(f"{TASKS}/secretive")
    assert answer.status == 200
    assert answer.body["commandLine"] == "run --password [redacted]"
    assert answer.body["environmentSettings"] == [{"name": "MODE", "value": "[redacted]"}]
    assert answer.body["resourceFiles"][0]["httpUrl"] == "https://a.blob.core.windows.net/c/b?[redacted]"
    assert SECRET not in json.dumps(answer.body)
    assert answer.body["cached"] is None


async def test_a_task_that_is_not_there_is_a_404_and_batch_is_asked_for_names_it_could_have_given_only(
    staged: World,
) -> None:
    calls = staged.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"]
    for path, target, words in (
        ("accounts/nobody/jobs/alpha/tasks/a", "account", "nobody"),
        ("accounts/demo/jobs/nope/tasks/a", "job", "nope"),
        (f"{TASKS}/a%3F$select=id", "task", "There is no task 'a?$select=id' in the job 'alpha'."),
        (f"{TASKS}/..%2F..%2Fbad-00001", "task", None),
        (f"{TASKS}/a.b", "task", "There is no task 'a.b' in the job 'alpha'."),
        (f"{TASKS}/{'a' * 65}", "task", "in the job 'alpha'."),
    ):
        answer = await staged.get(path)
        assert answer.status == 404, path
        assert words is None or (answer.body["error"]["target"] == target and words in answer.body["error"]["message"])
    assert staged.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] == calls
    answer = await staged.get(f"{TASKS}/nope")
    assert (answer.status, answer.body["error"]["code"]) == (404, "TaskNotFound")
    assert staged.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] == calls + 1


async def test_errors_of_batch_about_a_task_are_reported(staged: World) -> None:

    async def asked(fault: Fault) -> Answer:
        staged.emulator.faults.all[:] = [fault]
        return await staged.get(f"{TASKS}/bad-00001")

    throttled = await asked(Fault(status=429, retryAfter=7))
    assert (throttled.status, throttled.body["error"]["code"]) == (503, "BatchThrottled")
    assert throttled.headers["retry-after"] == "7"
    refused = await asked(Fault(status=403))
    assert (refused.status, refused.body["error"]["code"]) == (502, "BatchFailed")
    assert "'Azure Batch Account Reader'" in refused.body["error"]["message"]
    failed = await asked(Fault(status=500))
    assert (failed.status, failed.body["error"]["code"]) == (502, "BatchFailed")


async def test_no_task_is_asked_for_where_the_account_is_switched_off(staged: World) -> None:
    await staged.put("accounts/demo/monitoring", b'{"enabled": false}')
    calls = staged.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"]
    answer = await staged.get(f"{TASKS}/bad-00001")
    assert (answer.status, answer.body["error"]["code"]) == (409, "MonitoringOff")
    assert staged.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] == calls


async def test_the_timeline_equals_the_runs_of_the_official_client(staged: World) -> None:
    staged.advance(50)  # after the last poll: running tasks are known up to then
    timeline = (await staged.get("accounts/demo/jobs/alpha/timeline")).body
    as_of = _moment(timeline["asOf"])
    runs = {}
    busy: dict[str, float] = {}
    async for task in staged.batch.list_tasks("alpha"):
        run, node = task.execution_info, task.node_info
        if not (run and node and run.start_time):
            continue
        start, end = run.start_time.replace(tzinfo=UTC), run.end_time and run.end_time.replace(tzinfo=UTC)
        assert node.node_id
        runs[task.id] = (node.node_id, _milliseconds(start), end and _milliseconds(end), run.result)
        busy[node.node_id] = busy.get(node.node_id, 0) + (_milliseconds(end or as_of) - _milliseconds(start)) * (
            task.required_slots or 1
        )
    shown = {
        run["task"]: (
            node["nodeId"],
            _milliseconds(_moment(run["start"])),
            run["end"] and _milliseconds(_moment(run["end"])),
            run["result"],
        )
        for node in timeline["nodes"]
        for run in node["runs"]
    }
    assert shown == runs
    assert len(runs) == 18
    assert {node["nodeId"]: round(node["busySlotSeconds"] * 1000) for node in timeline["nodes"]} == busy
    assert [node["busySlotSeconds"] for node in timeline["nodes"]] == sorted(
        (node["busySlotSeconds"] for node in timeline["nodes"]), reverse=True
    )
    assert (timeline["aggregated"], timeline["otherNodes"], "buckets" in timeline["nodes"][0]) == (False, 0, False)
    assert _moment(timeline["from"]) == min(_moment(run["start"]) for node in timeline["nodes"] for run in node["runs"])


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


async def test_a_timeline_shows_the_runs_within_its_range(staged: World) -> None:
    whole = (await staged.get("accounts/demo/jobs/alpha/timeline")).body
    ends = sorted(run["end"] for node in whole["nodes"] for run in node["runs"] if run["end"])
    early = (await staged.get(f"accounts/demo/jobs/alpha/timeline?to={ends[0]}")).body
    late = (await staged.get(f"accounts/demo/jobs/alpha/timeline?from={ends[-1]}")).body
    assert {run["result"] for node in late["nodes"] for run in node["runs"]} == {None}
    assert 0 < sum(len(node["runs"]) for node in early["nodes"]) <= 12
    none = (
        await staged.get("accounts/demo/jobs/alpha/timeline?from=2001-01-01T00:00:00Z&to=2001-01-02T00:00:00Z")
    ).body
    assert (none["nodes"], none["from"]) == ([], "2001-01-01T00:00:00Z")


async def test_a_timeline_of_many_runs_is_added_up(world: World) -> None:
    await add_pool(world.batch, nodes=100)
    await add_job(world.batch, "alpha")
    await add_tasks(world.batch, 2001, job="alpha", command="sleep 5; exit 3")
    world.advance(300)
    await world.poll()
    timeline = (await world.get("accounts/demo/jobs/alpha/timeline")).body
    buckets = [bucket for node in timeline["nodes"] for bucket in node["buckets"]]
    assert timeline["aggregated"]
    assert not any("runs" in node for node in timeline["nodes"])
    assert sum(bucket["failed"] for bucket in buckets) == 2001
    every = await _rows(world, f"{TASKS}?maxpagesize=1000")
    total = sum(_milliseconds(_moment(task["endTime"])) - _milliseconds(_moment(task["startTime"])) for task in every)
    assert round(sum(bucket["busySlotSeconds"] for bucket in buckets) * 1000) == total


@pytest.mark.parametrize(
    ("query", "target", "words"),
    [
        ("from=yesterday", "from", "a time with its zone, like 2026-01-31T12:00:00Z"),
        ("from=2026-11-21T07:30:00", "from", "a time with its zone"),
        ("to=1969-01-01T00:00:00Z", "to", "a time from 1970"),
        ("from=9999-12-31T23:59:59-12:00", "from", "a time from 1970"),
        ("from=2026-11-21T07:30:00Z&to=2026-11-21T07:30:00Z", "from", "a time before 'to'"),
        ("from=9000-01-01T00:00:00Z", "from", "before 'to' or, where that isn't given, before now"),
        ("step=PT1M", "step", "Known are: from, to"),
    ],
)
async def test_a_timeline_of_no_time_is_refused_in_a_sentence(
    world: World, query: str, target: str, words: str
) -> None:
    answer = await world.get(f"accounts/demo/jobs/alpha/timeline?{query}")
    assert (answer.status, answer.body["error"]["target"]) == (400, target)
    assert words in answer.body["error"]["message"]
