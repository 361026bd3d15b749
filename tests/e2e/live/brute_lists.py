"""The expected lists of a job's tasks, computed plainly from Batch's own list. It shares no code with the app."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from local.prove.stack.api import Stack, call
from tests.e2e.live.listed import STATES, Difference, Listed, moment


def list_differences(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    """Compares lists, filters, orders, the export and every column."""
    yield from _list(stack, path, tasks)
    yield from _filters(stack, path, tasks)
    yield from _orders(stack, path, tasks)
    yield from _table(stack, path, tasks)
    yield from _rows(stack, path, tasks)


def _list(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    for state in STATES:
        some = [task for task in tasks if task.state == state]
        yield f"{state} tasks", _paged(stack, f"{path}/tasks?state={state}"), sorted(task.id for task in some)
    failed = sorted(task.id for task in tasks if task.result == "failure")
    yield "failed tasks", _paged(stack, f"{path}/tasks?result=failure", size=7), failed
    ended = sorted((task for task in tasks if task.ended is not None), key=lambda task: (-(task.ended or 0), task.id))
    latest = _paged(stack, f"{path}/tasks?orderby=endTime%20desc")
    yield "order by end", latest[: len(ended)], [task.id for task in ended]
    yield "tasks", sorted(latest), sorted(task.id for task in tasks)


def _filters(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    """Compares each filter with each of its values; of nodes only the busiest three."""
    wanted = {f"exitCode={code}": {task.id for task in tasks if task.cause[2] == code} for code in (-1, 0, 1, 137)}
    for node, _ in Counter(task.node for task in tasks if all(task.node)).most_common(3):
        wanted[f"nodeId={quote(node[1] or '')}"] = {task.id for task in tasks if task.node[1] == node[1]}
    for pool in {task.node[0] for task in tasks if task.node[0]} | {"no-such-pool"}:
        wanted[f"poolId={quote(pool)}"] = {task.id for task in tasks if task.node[0] == pool}
    for name in {task.id for task in tasks[:1]}:
        begin = name[:-2].upper()
        wanted[f"prefix={quote(begin)}"] = {task.id for task in tasks if task.id.upper().startswith(begin)}
    failed = [task for task in tasks if task.result == "failure"]
    for group in stack.get(f"{path}/failures")["groups"]:
        cause = (group["category"], group["code"], group["exitCode"])
        wanted[f"failureGroup={group['id']}"] = {task.id for task in failed if task.cause == cause}
    wanted["result=failure&exitCode=1"] = {task.id for task in failed if task.cause[2] == 1}
    for query, names in wanted.items():
        yield f"tasks of {query}", _paged(stack, f"{path}/tasks?{query}"), sorted(names)


def _orders(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    values: dict[str, dict[str, int | None]] = {
        "creationTime": {task.id: task.created for task in tasks},
        "stateTransitionTime": {task.id: task.moved for task in tasks},
        "startTime": {task.id: task.started for task in tasks},
        "endTime": {task.id: task.ended for task in tasks},
        "runTime": {task.id: _between(task.started, task.ended) for task in tasks},
        "waitTime": {task.id: None if any(task.repeats) else _between(task.created, task.started) for task in tasks},
    }
    for name, of in values.items():
        known = sorted((value, task) for task, value in of.items() if value is not None)
        unknown = sorted(task for task, value in of.items() if value is None)
        least = [task for _, task in known]
        greatest = [task for _, task in sorted(known, key=lambda row: (-row[0], row[1]))]
        yield f"order by {name}", _paged(stack, f"{path}/tasks?orderby={name}"), least + unknown
        yield f"order by {name} desc", _paged(stack, f"{path}/tasks?orderby={name}%20desc"), greatest + unknown


def _between(since: int | None, until: int | None) -> int | None:
    return None if since is None or until is None else until - since


def _table(stack: Stack, path: str, tasks: list[Listed]) -> Iterator[Difference]:
    """Compares the export of all tasks, read in parts of a thousand rows."""
    shown, url = list[tuple[str, ...]](), f"{stack.api}{path}/tasks?format=csv&maxpagesize=1000"
    while url:
        with urlopen(url) as answer:  # noqa: S310 - on loopback
            rows = csv.DictReader(io.StringIO(answer.read().decode()))
            url = (answer.headers["Link"] or "").partition("<")[2].partition(">")[0]
        shown += [(row["id"], row["state"], row["result"], row["exitCode"], row["nodeId"]) for row in rows]
    true = [(task.id, task.state, task.result, task.cause[2], task.node[1]) for task in tasks]
    yield "table", shown, sorted(tuple("" if cell is None else str(cell) for cell in row) for row in true)


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
    """Compares every column of every task."""
    shown = {row["id"]: row for row in _whole(stack, f"{path}/tasks?orderby=id")}
    for task in tasks:
        yield f"the task {task.id}", _read(shown.get(task.id)), task


def _read(row: Mapping[str, Any] | None) -> Listed | None:
    """Returns a row of the task list as if Batch had listed it."""
    if row is None:
        return None
    created, started, ended, moved = (
        moment(row[name]) if row[name] else None
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
