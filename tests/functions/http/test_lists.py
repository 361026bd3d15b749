"""Every list of the API against Batch's own, as the official client reads it.

Covers each filter, several values, two filters together, every order, pages of any size, and the reported number of
entries. Entries are compared by their ids, never by their number.
"""

import itertools
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from azure.batch.models import BatchJobDisableOptions

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

TASKS = "accounts/demo/jobs/alpha/tasks"
NODES = "accounts/demo/pools/small/nodes"
JOBS = "accounts/demo/jobs"
POOLS = "accounts/demo/pools"


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    return await _running.staged_once(stage)


async def stage(world: World) -> None:
    """Stages jobs in several states on two pools, tasks in all of theirs, and a deleted job."""
    await add_pool(world.batch, "small", nodes=3)
    await add_pool(world.batch, "large", nodes=5)
    await add_pool(world.batch, "Little", nodes=0)
    for job, pool, priority in (
        ("alpha", "small", 0),
        ("Beta", "small", 5),
        ("betamax", "large", 5),
        ("gone", "small", 0),
    ):
        await add_job(world.batch, job, pool=pool, priority=priority)
    await add_job(world.batch, "gamma", pool="large", priority=-7)
    await add_tasks(world.batch, 4, job="alpha", command="sleep 2; exit 3", prefix="bad")
    await add_tasks(world.batch, 3, job="alpha", command="sleep 2; exit 4", prefix="Worse")
    await add_tasks(world.batch, 5, job="alpha", command="sleep 2", prefix="good")
    await add_tasks(world.batch, 5, job="gone", command="sleep 2", prefix="good")
    world.advance(300)
    await world.poll()
    await add_tasks(world.batch, 7, job="alpha", command="sleep 100000", prefix="long")
    await add_tasks(world.batch, 6, job="betamax", command="sleep 2; exit 1")
    await world.batch.begin_disable_job("gamma", BatchJobDisableOptions(disable_tasks="wait"))
    reason: Any = {"terminateReason": "enough"}
    await world.batch.begin_terminate_job("Beta", reason)
    await world.batch.begin_delete_job("gone")
    for _ in range(3):
        world.advance(120)
        await world.poll()


async def listed(world: World, path: str, query: Mapping[str, str], size: int = 1000) -> tuple[list[Any], int | None]:
    """Returns all entries of a list over pages of a size, and the count that every page reports."""
    following, found, counts = f"{path}?{urlencode({**query, 'maxpagesize': size})}", list[Any](), set[int | None]()
    while following:
        page = await world.get(following)
        assert page.status == 200, page.body
        assert 0 <= len(page.body["value"]) <= size
        found += page.body["value"]
        counts.add(page.body.get("count"))
        following = page.body["nextLink"].split("/api/", 1)[1] if "nextLink" in page.body else ""
    (count,) = counts
    return found, count


async def ids(world: World, path: str, query: Mapping[str, str]) -> list[str]:
    return [entry["id"] for entry in (await listed(world, path, query))[0]]


type Rule = Callable[[Any], bool]


def name_of(state: Any) -> str:
    return str(getattr(state, "value", state) or "").lower()


def result(task: Any) -> str:
    return name_of(task.execution_info and task.execution_info.result)


def exit_code(task: Any) -> int | None:
    return task.execution_info.exit_code if task.execution_info else None


def start(task: Any) -> datetime | None:
    return task.execution_info.start_time if task.execution_info else None


def run_time(task: Any) -> timedelta:
    """Returns the time from start to end, a negative one where either isn't known."""
    begun, end = start(task), task.execution_info.end_time if task.execution_info else None
    return end - begun if begun and end else timedelta(-1)


def node(task: Any) -> str:
    return (task.node_info.node_id or "").lower() if task.node_info else ""


async def batch_tasks(world: World) -> list[Any]:
    return [task async for task in world.batch.list_tasks("alpha")]


async def task_rules(world: World) -> Mapping[tuple[str, str], Rule]:
    tasks = await batch_tasks(world)
    nodes = sorted({task.node_info.node_id for task in tasks if task.node_info and task.node_info.node_id})
    groups = {
        group["exitCode"]: group["id"]
        for group in (await world.get("accounts/demo/jobs/alpha/failures")).body["groups"]
    }
    middle = sorted(filter(None, map(start, tasks)))[4]
    early, late = middle - timedelta(1), middle + timedelta(1)
    return {
        ("state", "active"): lambda task: name_of(task.state) == "active",
        ("state", "active,running"): lambda task: name_of(task.state) in {"active", "running"},
        ("state", "completed"): lambda task: name_of(task.state) == "completed",
        ("result", "failure"): lambda task: result(task) == "failure",
        ("result", "failure,success"): lambda task: result(task) != "",
        ("exitCode", "3"): lambda task: exit_code(task) == 3,
        ("exitCode", "4,0"): lambda task: exit_code(task) in {4, 0},
        ("nodeId", nodes[0].upper()): lambda task: node(task) == nodes[0].lower(),
        ("nodeId", ",".join(nodes[:2])): lambda task: node(task) in {name.lower() for name in nodes[:2]},
        ("poolId", "SMALL"): lambda task: node(task) != "",
        ("poolId", "large,none"): lambda _: False,
        ("failureGroup", groups[3]): lambda task: exit_code(task) == 3,
        ("failureGroup", f"{groups[3]},{groups[4]}"): lambda task: exit_code(task) in {3, 4},
        ("slots", "2,3"): lambda task: task.required_slots > 1,
        ("startedFrom", middle.isoformat()): lambda task: (start(task) or early) >= middle,
        ("startedTo", middle.isoformat()): lambda task: (start(task) or late) <= middle,
        ("runTimeFrom", "PT2S"): lambda task: run_time(task) >= timedelta(seconds=2),
        ("runTimeTo", "PT1.5S"): lambda task: timedelta() <= run_time(task) <= timedelta(seconds=1.5),
        ("prefix", "WORSE"): lambda task: task.id.lower().startswith("worse"),
    }


def job_rules() -> Mapping[tuple[str, str], Rule]:
    return {
        ("state", "active"): lambda job: name_of(job.state) == "active",
        ("state", "completed,disabled"): lambda job: name_of(job.state) in {"completed", "disabled"},
        ("poolId", "LARGE"): lambda job: job.pool_info.pool_id.lower() == "large",
        ("poolId", "large,small,none"): lambda _: True,
        ("poolId", "none"): lambda _: False,
        ("schedule", "nightly"): lambda _: False,
        ("prefix", "BETA"): lambda job: job.id.lower().startswith("beta"),
    }


async def pool_rules(world: World) -> Mapping[tuple[str, str], Rule]:
    return {
        ("state", "active,deleting"): lambda _: True,
        ("state", "deleting"): lambda _: False,
        ("allocationState", "steady"): lambda pool: name_of(pool.allocation_state) == "steady",
        ("allocationState", "resizing,stopping"): lambda pool: name_of(pool.allocation_state) != "steady",
        ("prefix", "l"): lambda pool: pool.id.lower().startswith("l"),
    }


async def node_rules(world: World) -> Mapping[tuple[str, str], Rule]:
    names = [node.id async for node in world.batch.list_nodes("small")]
    return {
        ("state", "idle"): lambda node: name_of(node.state) == "idle",
        ("state", "idle,running"): lambda node: name_of(node.state) in {"idle", "running"},
        ("isDedicated", "true"): lambda node: node.is_dedicated,
        ("isDedicated", "false"): lambda node: not node.is_dedicated,
        ("flapping", "true"): lambda _: False,
        ("cause", "disk"): lambda _: False,
        ("prefix", names[0].upper()): lambda node: node.id.lower().startswith(names[0].lower()),
    }


async def cases(world: World) -> AsyncIterator[tuple[str, list[Any], Mapping[tuple[str, str], Rule]]]:
    yield TASKS, await batch_tasks(world), await task_rules(world)
    yield JOBS, [job async for job in world.batch.list_jobs()], job_rules()
    yield POOLS, [pool async for pool in world.batch.list_pools()], await pool_rules(world)
    yield NODES, [node async for node in world.batch.list_nodes("small")], await node_rules(world)


def in_order(entries: Iterable[Any]) -> list[str]:
    return sorted((entry.id for entry in entries), key=str.lower)


async def test_filters_and_pairs_of_filters_list_the_entries_of_batch(staged: World) -> None:
    async for path, entries, rules in cases(staged):
        assert await ids(staged, path, {}) == in_order(entries), path
        for (name, value), rule in rules.items():
            assert await ids(staged, path, {name: value}) == in_order(filter(rule, entries)), (path, name, value)
        for (one, first), (two, second) in itertools.combinations(rules.items(), 2):
            if one[0] != two[0]:
                both = [entry for entry in entries if first(entry) and second(entry)]
                found = await ids(staged, path, dict((one, two)))
                assert found == in_order(both), (path, one, two)


async def test_each_filter_lets_some_through_and_keeps_some_out_somewhere(staged: World) -> None:
    async for path, entries, rules in cases(staged):
        counts = {
            name: [sum(map(bool, map(rule, entries))) for (own, _), rule in rules.items() if own == name]
            for name, _ in rules
        }
        for name, numbers in counts.items():
            assert any(number < len(entries) for number in numbers), (path, name)


async def test_pages_of_any_size_join_to_the_whole_list_with_the_same_filters(staged: World) -> None:
    for size, (path, query) in itertools.product((1, 2, 7), (
        (TASKS, {"state": "active,running"}), (TASKS, {"prefix": "long"}), (TASKS, {"orderby": "startTime desc"}),
        (JOBS, {"prefix": "b"}), (JOBS, {"prefix": "g", "includeDeleted": "true"}), (JOBS, {"poolId": "small,large"}),
        (POOLS, {"prefix": "l"}), (NODES, {"state": "idle,running"}),
    )):  # fmt: skip
        whole, count = await listed(staged, path, query)
        parts, count_of_parts = await listed(staged, path, query, size)
        assert whole
        assert [entry["id"] for entry in parts] == [entry["id"] for entry in whole], (path, query)
        assert count_of_parts == count
        assert count in {None, len(whole)}
        assert count is not None or {"prefix"} & query.keys()


COLUMNS = [
    "id", "state", "poolId", "priority", "creationTime", "stateTransitionTime", "startTime", "endTime",
    *(f"taskCounts.{name}" for name in ("active", "preparing", "running", "completed", "succeeded", "failed", "total")),
]  # fmt: skip


def value_of(job: Mapping[str, Any], column: str) -> Any:
    name, _, rest = column.partition(".")
    value = (job[name] or {}).get(rest) if rest else job[name]
    return value.lower() if column in {"id", "poolId"} and value else value


async def test_jobs_come_in_the_order_of_a_column_on_pages_of_any_size(staged: World) -> None:
    chosen = {"includeDeleted": "true", "poolId": "small,large"}  # without the deleted jobs of many other tests
    jobs = {job["id"]: job for job in (await listed(staged, JOBS, chosen))[0]}
    named = sorted(jobs.values(), key=lambda job: job["id"].lower())
    for column, descends in itertools.product(COLUMNS, (False, True)):
        known = [job for job in named if value_of(job, column) is not None]
        true = sorted(known, key=lambda job: value_of(job, column), reverse=descends)
        true += [job for job in named if value_of(job, column) is None]
        for size in (1, 2, 1000):
            orderby = f"{column} desc" if descends else column
            found, count = await listed(staged, JOBS, {"orderby": orderby, **chosen}, size)
            assert [job["id"] for job in found] == [job["id"] for job in true], (orderby, size)
            assert count == len(jobs)


async def test_a_continuation_of_another_order_is_refused(staged: World) -> None:
    page = (await staged.get(f"{JOBS}?orderby=priority&maxpagesize=1")).body["nextLink"].split("/api/", 1)[1]
    assert (await staged.get(page)).status == 200
    for other in ("orderby=state&", "orderby=priority+desc&", "orderby=taskCounts.total&"):
        wrong = await staged.get(page.replace("orderby=priority&", other))
        assert (wrong.status, wrong.body["error"]["target"]) == (400, "continuation"), other
    assert (await staged.get(f"{JOBS}?orderby=priority&continuation=x")).status == 400


async def test_lists_of_tasks_nodes_and_pools_have_the_verdict_of_their_owner(staged: World) -> None:
    for path, owner in ((TASKS, "accounts/demo/jobs/alpha"), (NODES, "accounts/demo/pools/small")):
        page, verdict = (await staged.get(path)).body, (await staged.get(owner)).body["verdict"]
        assert page["verdict"] == verdict
        assert page["asOf"] == verdict["asOf"] is not None
    pools = (await staged.get(POOLS)).body
    assert (pools["verdict"]["level"], pools["asOf"]) == ("exact", pools["verdict"]["asOf"])
    assert pools["asOf"] == pools["value"][0]["verdict"]["asOf"]
    staged.advance(3600)
    assert {(await staged.get(path)).body["verdict"]["level"] for path in (TASKS, NODES, POOLS)} == {"stale"}
    unread = await staged.get(f"{TASKS.replace('alpha', 'fresh')}")
    assert unread.status == 404


@pytest.mark.parametrize("path", [TASKS, NODES, POOLS, JOBS])
async def test_headers_of_a_table_hold_the_fields_around_json_entries(staged: World, path: str) -> None:
    query = f"{path}?maxpagesize=1" + ("&state=running" if path == TASKS else "")
    page, table = (await staged.get(query)).body, (await staged.get(f"{query}&format=csv")).headers
    assert table["batchscope-count"] == str(page["count"])
    assert table["link"].replace("&format=csv", "") == f'<{page["nextLink"]}>; rel="next"'
    assert "&format=csv" in table["link"]
    if "verdict" in page:
        assert json.loads(table["batchscope-verdict"]) == page["verdict"]
        assert table["batchscope-as-of"] == page["asOf"]
    documented = (await staged.get("openapi.json")).body["paths"]
    places = {"demo": "{account}", "alpha": "{job}", "small": "{pool}"}
    route = documented["/api/" + "/".join(places.get(part, part) for part in path.split("/"))]["get"]
    described = {name.lower() for name in route["responses"]["200"]["headers"]}
    assert {name for name in table if name.startswith("batchscope-")} | {"link", "etag"} <= described


async def test_a_table_of_another_verdict_or_count_is_another_answer(staged: World) -> None:
    path = f"{TASKS}?state=running&format=csv"
    first = await staged.get(path)
    assert first.headers["etag"].startswith("W/")
    staged.advance(3600)
    later = await staged.get(path, If_None_Match=first.headers["etag"])
    assert (later.status, later.body) == (200, first.body)
    assert json.loads(later.headers["batchscope-verdict"])["level"] == "stale"


@pytest.mark.parametrize(
    ("path", "status", "target", "words"),
    [
        (f"{TASKS}?failureGroup=zzz", 404, "failureGroup", "There is no failureGroup 'zzz' in the job 'alpha'."),
        (f"{TASKS}?failureGroup=zzz&format=csv", 404, "failureGroup", "zzz"),
        (
            f"{TASKS}?state=active,sleeping",
            400,
            "state",
            "active, completed, preparing, running, or several with commas",
        ),
        (f"{TASKS}?state=active,", 400, "state", "can't be 'active,'"),
        (f"{TASKS}?result=xx", 400, "result", "success"),
        (f"{TASKS}?exitCode=1,1e3", 400, "exitCode", "a whole number, or several with commas between them"),
        (f"{TASKS}?nodeId=a,,b", 400, "nodeId", "a list of at most 100 texts"),
        (f"{JOBS}?state=active,null", 400, "state", "active"),
        (f"{JOBS}?orderby=colour", 400, "orderby", "taskCounts.total desc"),
        (f"{POOLS}?allocationState=steady,xx", 400, "allocationState", "resizing"),
        (f"{NODES}?state=idle,xx", 400, "state", "waitingforstarttask"),
        ("accounts/demo/jobschedules?state=xx", 400, "state", "terminating"),
        ("accounts/demo/events?kind=xx", 400, "kind", "TaskFailEvent"),
        ("accounts/demo/events?kind=TaskFailEvent,TaskFailedEvent", 400, "kind", "can't be 'TaskFailedEvent'"),
        (f"{TASKS}?nodeId=", 400, "nodeId", "is empty; it is a list of at most 100 texts. Leave it out"),
        (f"{TASKS}?state=active&exitCode=", 400, "exitCode", "is empty; it is a whole number, or several"),
        (f"{JOBS}?state=&format=csv", 400, "state", "is empty; it is one of active"),
        (f"{JOBS}?includeDeleted", 400, "includeDeleted", "is empty; it is true or false"),
        (f"{JOBS}?colour=", 400, "colour", "There is no query parameter 'colour'"),
    ],
)
async def test_an_unknown_value_is_refused(staged: World, path: str, status: int, target: str, words: str) -> None:
    answer = await staged.get(path)
    assert (answer.status, answer.body["error"]["target"]) == (status, target)
    assert words in answer.body["error"]["message"]
    if status == 404:
        assert answer.body["error"]["code"] == "FailureGroupNotFound"


async def test_the_totals_of_an_account_equal_batchs_lists(staged: World) -> None:
    """The deleted job counts for nothing, though its tasks are stored."""
    gone = (await staged.get(f"{JOBS}/gone")).body
    assert gone["deleted"]
    assert gone["taskCounts"]["total"] == 5
    for job in ("alpha", "betamax"):
        staged.advance(60)
        await staged.poll()
        assert (await staged.get(f"{JOBS}/{job}")).body["verdict"]["level"] == "exact"
    jobs = [job async for job in staged.batch.list_jobs()]
    tasks = [task for job in jobs async for task in staged.batch.list_tasks(job.id)]
    pools = [pool async for pool in staged.batch.list_pools()]
    nodes = [node for pool in pools async for node in staged.batch.list_nodes(pool.id)]
    account = (await staged.get("accounts/demo")).body
    assert account == (await staged.get("accounts")).body["value"][0]
    assert account["jobs"] == Counter(name_of(job.state) for job in jobs)
    by_state = Counter(name_of(task.state) for task in tasks)
    results = Counter(map(result, tasks))
    assert account["taskCounts"] == {
        **{state: by_state[state] for state in ("active", "preparing", "running", "completed")},
        "succeeded": results["success"],
        "failed": results["failure"],
        "total": len(tasks),
    }
    assert min(account["taskCounts"][name] for name in ("active", "running", "succeeded", "failed")) > 0
    assert (account["pools"]["total"], account["pools"]["byState"]) == (
        3,
        Counter(name_of(pool.state) for pool in pools),
    )
    assert account["nodeCounts"] == Counter(name_of(node.state) for node in nodes)
    assert len(nodes) == 8
    slots = {pool.id: pool.task_slots_per_node or 1 for pool in pools}
    total = sum(slots[pool.id] * (pool.current_dedicated_nodes or 0) for pool in pools)
    used = sum(node.running_task_slots_count or 0 for node in nodes)
    assert account["slots"] == {"total": total, "used": used, "free": total - used}
    assert account["cores"] == {"total": 2 * len(nodes), "busy": pytest.approx(2 * len(nodes) * used / total)}
    assert used > 0


async def test_no_parameter_of_any_route_may_be_empty(staged: World) -> None:
    places = {
        "account": "demo",
        "job": "alpha",
        "group": "x",
        "pool": "small",
        "task": "good-0",
        "node": "x",
        "path": "x",
        "schedule": "x",
        "poll": "x",
        "budget": "x",
    }
    paths = (await staged.get("openapi.json")).body["paths"]
    tried = set()
    for path, operations in paths.items():
        address = path.format_map(places).removeprefix("/api/")
        for parameter in operations.get("get", {}).get("parameters", ()):
            if parameter["in"] == "query":
                answer = await staged.get(f"{address}?{parameter['name']}=")
                assert (answer.status, answer.body["error"]["target"]) == (400, parameter["name"]), path
                assert " is empty; it is " in answer.body["error"]["message"]
                tried.add(parameter["name"])
    assert {"state", "nodeId", "kind", "prefix", "cause", "failureGroup", "from", "orderby"} <= tried
