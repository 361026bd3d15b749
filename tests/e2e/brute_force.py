"""What the API must say of a job, computed plainly from Batch's own list of its tasks, and where it says otherwise.

It shares no code with the app. Compare only while the emulator is paused and after a poll.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any
from urllib.parse import quote

from azure.batch import BatchClient

from local.prove.counts import Stack, call

_MILLISECOND = timedelta(milliseconds=1)
_STATES = ("active", "preparing", "running", "completed")
_WINDOWS = {"last5Minutes": 5, "last15Minutes": 15, "lastHour": 60}

type Difference = tuple[str, Any, Any]
type Node = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Listed:
    """A task as Batch lists it; times are milliseconds since 1970, None where there is none."""

    id: str
    state: str
    result: str | None
    cause: tuple[str | None, str | None, int | None]
    created: int
    started: int | None
    ended: int | None
    moved: int
    repeats: tuple[int, int]
    slots: int
    node: Node

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> "Listed":
        run, node = sent.get("executionInfo") or {}, sent.get("nodeInfo") or {}
        failure = run.get("failureInfo") or {}
        return cls(
            sent["id"],
            sent["state"],
            run.get("result"),
            (failure.get("category"), failure.get("code"), run.get("exitCode")),
            _moment(sent["creationTime"]),
            _moment(run["startTime"]) if "startTime" in run else None,
            _moment(run["endTime"]) if "endTime" in run else None,
            _moment(sent["stateTransitionTime"]),
            (run.get("retryCount", 0), run.get("requeueCount", 0)),
            sent.get("requiredSlots", 1),
            (node.get("poolId"), node.get("nodeId")),
        )

    def until(self, known: int) -> int:
        """When its run ended, so far."""
        ended = known if self.state == "running" else self.ended or self.moved
        return max(ended, self.started or 0)


def listed(stack: Stack, client: BatchClient) -> dict[str, list[Listed]]:
    """All tasks of all jobs as the official client lists them."""
    return {job: [Listed.of(task.as_dict()) for task in client.list_tasks(job)] for job in stack.truth()}


def differences(stack: Stack, job: str, tasks: list[Listed]) -> list[str]:
    """Every number that the API tells of a job which isn't that of its tasks."""
    path = f"/accounts/{stack.account}/jobs/{quote(job)}"
    told = stack.get(path)
    found = [
        *_insight(told, tasks),
        *_failures(stack.get(f"{path}/failures"), tasks),
        *_list(stack, path, tasks),
        *_rows(stack, path, tasks),
        *_timeline(stack.get(f"{path}/timeline"), tasks),
    ]
    return [f"{job}: {what} is {shown}, in truth {true}" for what, shown, true in found if shown != true]


def history_differences(stack: Stack, job: str, tasks: list[Listed]) -> list[str]:
    """Where the last point of a job's history isn't what Batch lists; nothing may have moved since then."""
    points = stack.get(f"/accounts/{stack.account}/jobs/{quote(job)}/history?step=PT1M")["value"]
    known = [point["taskCounts"] for point in points if point["taskCounts"]]
    true = _counted(tasks)
    return [] if known[-1:] == [true] else [f"{job}: its history ends with {known[-1:]}, in truth {true}"]


def _insight(told: Mapping[str, Any], tasks: list[Listed]) -> Iterator[Difference]:
    insight, done = told["insight"], [task for task in tasks if task.state == "completed"]
    yield "counts", told["taskCounts"], _counted(tasks)
    timed = [task for task in done if task.started is not None and task.ended is not None]
    first = [task for task in timed if not any(task.repeats)]
    yield from _durations("queueWait", insight, [max(0, (task.started or 0) - task.created) for task in first])
    yield from _durations("runTime", insight, [max(0, (task.ended or 0) - (task.started or 0)) for task in timed])
    end = _moment(insight["throughput"]["asOf"]) // 60_000
    minutes = Counter((task.ended or task.moved) // 60_000 for task in done)
    for name, window in _WINDOWS.items():
        number = sum(minutes[minute] for minute in range(end - window, end))
        yield name, insight["throughput"]["perMinute"][name], number / window
    for place, (name, having) in enumerate((("retries", "retriedTasks"), ("requeues", "requeuedTasks"))):
        times = [task.repeats[place] for task in tasks]
        yield name, (insight[name], insight[having]), (sum(times), sum(map(bool, times)))
    slots = {state: sum(task.slots for task in tasks if task.state == state) for state in _STATES[:3]}
    yield "slots", insight["slots"], slots
    yield "remaining", insight["estimate"]["remaining"], len(tasks) - len(done)


def _durations(name: str, insight: Mapping[str, Any], values: list[int]) -> Iterator[Difference]:
    told = insight[name]
    if not values:
        yield name, told, None
        return
    yield f"tasks of {name}", told["tasks"], len(values)
    yield f"mean of {name}", round(told["mean"], 6), round(sum(values) / len(values) / 1000, 6)
    for percent in (50, 90, 99):
        true, shown = sorted(values)[ceil(len(values) * percent / 100) - 1] / 1000, told[f"p{percent}"]
        if abs(shown - true) > told["relativeError"] * true:
            yield f"p{percent} of {name}", shown, true


def _failures(told: Mapping[str, Any], tasks: list[Listed]) -> Iterator[Difference]:
    causes = defaultdict[tuple[str | None, str | None, int | None], list[Listed]](list)
    for task in tasks:
        if task.result == "failure":
            causes[task.cause].append(task)
    yield "failed", (told["failed"], told["ungrouped"]), (sum(map(len, causes.values())), 0)
    shown = {(group["category"], group["code"], group["exitCode"]): _group(group) for group in told["groups"]}
    yield "groups", shown, {cause: _expected_group(failed) for cause, failed in causes.items()}


def _group(group: Mapping[str, Any]) -> Any:
    nodes = {(node["poolId"], node["nodeId"]): node["count"] for node in group["nodes"]}
    return (
        group["count"], _moment(group["firstTime"]), _moment(group["lastTime"]), group["tasks"], nodes,
        group["otherNodes"],
    )  # fmt: skip


def _expected_group(failed: list[Listed]) -> Any:
    ends = [task.ended or task.moved for task in failed]
    nodes = Counter(task.node for task in failed if all(task.node))
    best = dict(sorted(nodes.items(), key=lambda node: (-node[1], node[0]))[:10])
    examples = sorted(task.id for task in failed)[:5]
    return len(failed), min(ends), max(ends), examples, best, len(failed) - sum(best.values())


def _list(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    for state in _STATES:
        some = [task for task in tasks if task.state == state]
        yield f"{state} tasks", _paged(stack, f"{path}/tasks?state={state}"), sorted(task.id for task in some)
    failed = sorted(task.id for task in tasks if task.result == "failure")
    yield "failed tasks", _paged(stack, f"{path}/tasks?result=failure", size=7), failed
    ended = sorted((task for task in tasks if task.ended is not None), key=lambda task: (-(task.ended or 0), task.id))
    latest = _paged(stack, f"{path}/tasks?orderby=endTime%20desc")
    yield "order by end", latest[: len(ended)], [task.id for task in ended]
    yield "tasks", sorted(latest), sorted(task.id for task in tasks)


def _paged(stack: Stack, path: str, size: int = 1000) -> list[str]:
    return [task["id"] for task in _whole(stack, path, size)]


def _whole(stack: Stack, path: str, size: int = 1000) -> list[Any]:
    found, url = list[Any](), f"{stack.api}{path}&maxpagesize={size}"
    while url:
        page = call("GET", url)
        found += page["value"]
        url = page.get("nextLink")
    return found


def _rows(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    """Every column of every task."""
    shown = {row["id"]: row for row in _whole(stack, f"{path}/tasks?orderby=id")}
    for task in tasks:
        yield f"the task {task.id}", _read(shown.get(task.id)), task


def _read(row: Mapping[str, Any] | None) -> Listed | None:
    """A row of the task list as if Batch had listed it."""
    if row is None:
        return None
    created, started, ended, moved = (
        _moment(row[name]) if row[name] else None
        for name in ("creationTime", "startTime", "endTime", "stateTransitionTime")
    )
    return Listed(
        row["id"],
        row["state"],
        row["result"],
        (row["failureCategory"], row["failureCode"], row["exitCode"]),
        created or 0,
        started,
        ended,
        moved or 0,
        (row["retryCount"], row["requeueCount"]),
        row["requiredSlots"],
        (row["poolId"], row["nodeId"]),
    )


def _timeline(told: Mapping[str, Any], tasks: list[Listed]) -> Iterator[Difference]:
    known = _moment(told["asOf"])
    runs = [task for task in tasks if task.started is not None]
    busy = Counter[Node]()
    for task in runs:
        busy[task.node] += (task.until(known) - (task.started or 0)) * task.slots
    shown = {(node["poolId"], node["nodeId"]): node["busySlotSeconds"] for node in told["nodes"]}
    yield "busy time", shown, {node: time / 1000 for node, time in busy.items()}
    yield "aggregated", told["aggregated"], len(runs) > 2000
    parts = [part for node in told["nodes"] for part in node.get("buckets", node.get("runs"))]
    if told["aggregated"]:
        yield "failed in buckets", sum(part["failed"] for part in parts), sum(task.result == "failure" for task in runs)
        total = round(sum(part["busySlotSeconds"] for part in parts), 3)
        yield "busy time of buckets", total, round(busy.total() / 1000, 3)
    else:
        began = sorted((part["task"], _moment(part["start"])) for part in parts)
        yield "runs", began, sorted((task.id, task.started) for task in runs)


def _counted(tasks: list[Listed]) -> dict[str, int]:
    states, results = Counter(task.state for task in tasks), Counter(task.result for task in tasks)
    counts = {state: states[state] for state in _STATES}
    return {**counts, "succeeded": results["success"], "failed": results["failure"], "total": len(tasks)}


def _moment(text: str) -> int:
    """Milliseconds, rounded down."""
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // _MILLISECOND
