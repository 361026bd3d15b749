"""Compares pools, their nodes and job schedules with the truth.

The truth of nodes and schedules comes from the service's own lists while it is paused. Faults also affect these
requests, so each is retried until it is answered.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.batch import BatchClient
from azure.core.exceptions import AzureError

from local.dev.system.console import Failure
from local.prove.exact.judging import Verdicts
from local.prove.stack.api import Stack
from local.prove.stack.pool_truth import figures_of, true_figures_of

logging.getLogger("azure.core").setLevel(logging.CRITICAL)  # it logs broken answers, which are intended here
_TRIES = 60
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
type Figures = Mapping[str, str]
type Truth = Mapping[str, tuple[str, Figures]]


@dataclass(frozen=True, slots=True)
class ShownResource:
    """A resource in the API: `kind` and lower-case id form its `key`; `figures` are JSON texts by name."""

    kind: str
    id: str
    level: str
    as_of: datetime | None
    reason: str
    figures: tuple[tuple[str, str], ...]

    @property
    def key(self) -> str:
        return f"{self.kind} {self.id.lower()}"

    def claims(self, since: datetime) -> bool:
        """Returns whether it is `exact` as of a moment at or after `since`."""
        return self.level == "exact" and self.as_of is not None and self.as_of >= since


def look_beside(stack: Stack) -> list[ShownResource]:
    """Returns pools, nodes and schedules as a host shows them. Raises the error of an unanswered request."""
    found: list[ShownResource] = []
    for pool in stack.pools().values():
        found += [_shown("pool", pool, pool["verdict"], figures_of(pool)), _nodes(stack, pool)]
    return found + [
        _shown("schedule", each, each["verdict"], _schedule_figures(each)) for each in stack.schedules().values()
    ]


def truth_beside(controls: Stack, client: BatchClient) -> Truth:
    """Returns the true figures while the emulator is paused. Raises Failure if it doesn't answer."""
    truth = controls.true_pools()
    found: dict[str, tuple[str, Figures]] = {}
    for name, numbers in truth.items():
        found[f"pool {name.lower()}"] = name, _texts(true_figures_of(numbers))
        found[f"nodes {name.lower()}"] = name, _texts({node["id"]: _node(node) for node in _listed(client, name)})
    for schedule in _insisted(lambda: [each.as_dict() for each in client.list_job_schedules()]):
        found[f"schedule {schedule['id'].lower()}"] = schedule["id"], _texts(_true_schedule(schedule))
    return found


def judge_beside(shown: Iterable[ShownResource], truth: Truth, since: datetime) -> Verdicts:
    """Compares everything that is exact as of the pause, which began at `since`, with the truth."""
    claimed = [thing for thing in shown if thing.claims(since)]
    return Verdicts(len(claimed), tuple(text for thing in claimed if (text := _difference(thing, truth))))


def unsettled_beside(shown: Iterable[ShownResource], truth: Truth) -> dict[str, str]:
    """Returns the reason, by key, why a resource isn't right and exact after all faults have ended."""
    there = {thing.key: thing for thing in shown}
    found = {key: f"{key}: not shown" for key in truth.keys() - there.keys()}
    for key, thing in there.items():
        if flaw := _difference(thing, truth):
            found[key] = flaw
        elif thing.level != "exact":
            found[key] = f"{key}: right, but {thing.level} as of {thing.as_of}: {thing.reason}"
    return found


def _difference(thing: ShownResource, truth: Truth) -> str | None:
    said = f"{thing.key}: {thing.level} as of {thing.as_of} ({thing.reason})"
    if thing.key not in truth:
        return f"{said}, but there is none"
    name, true = truth[thing.key]
    shown = dict(thing.figures)
    wrong = [
        f"{figure} {shown.get(figure)}, in truth {true.get(figure)}"
        for figure in sorted(shown.keys() | true.keys())
        if shown.get(figure) != true.get(figure)
    ]
    if thing.kind != "nodes" and thing.id != name:
        wrong.append(f"shown as {thing.id}, in truth {name}")
    return f"{said} it says {'; '.join(wrong)}" if wrong else None


def _shown(
    kind: str, answer: Mapping[str, Any], verdict: Mapping[str, Any], figures: Mapping[str, Any]
) -> ShownResource:
    as_of = datetime.fromisoformat(verdict["asOf"]) if verdict.get("asOf") else None
    reason = verdict.get("reason", "")
    return ShownResource(kind, answer["id"], verdict["level"], as_of, reason, tuple(_texts(figures).items()))


def _nodes(stack: Stack, pool: Mapping[str, Any]) -> ShownResource:
    """Returns a pool's nodes; the verdict is that of the oldest node, or the pool's if there are none."""
    nodes = list(stack.nodes(pool["id"]).values())
    verdict = min(nodes, key=lambda node: node["asOf"] or "") if nodes else pool["verdict"]
    return _shown("nodes", pool, verdict, {node["id"]: _node(node) for node in nodes})


def _node(node: Mapping[str, Any]) -> list[Any]:
    """Returns a node's figures from the API or the service; names in the service differ for counts."""
    return [
        node["state"],
        _moment(node["stateTransitionTime"]),
        node["isDedicated"],
        node["schedulingState"],
        node.get("runningTasks", node.get("runningTasksCount")),
        node.get("runningSlots", node.get("runningTaskSlotsCount")),
    ]


def _schedule_figures(schedule: Mapping[str, Any]) -> dict[str, Any]:
    recent, deleted = schedule["recentJob"] or {}, schedule["deleted"]
    return {
        "state": "deleted" if deleted else schedule["state"],
        "modified": _moment(schedule["lastModified"]),
        "next run": _moment(schedule["nextRunTime"]),
        "recent job": recent.get("id"),
    }


def _true_schedule(schedule: Mapping[str, Any]) -> dict[str, Any]:
    execution = schedule.get("executionInfo") or {}
    return {
        "state": schedule["state"],
        "modified": _moment(schedule["lastModified"]),
        "next run": _moment(execution.get("nextRunTime")),
        "recent job": (execution.get("recentJob") or {}).get("id"),
    }


def _listed(client: BatchClient, pool: str) -> list[Any]:
    return _insisted(lambda: [node.as_dict() for node in client.list_nodes(pool)])


def _moment(text: str | None) -> int | None:
    """Returns milliseconds since 1970, rounded down as the app does."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1) if text else None


def _texts(figures: Mapping[str, Any]) -> dict[str, str]:
    return {name: json.dumps(value, sort_keys=True) for name, value in figures.items()}


def _insisted[T](ask: Callable[[], T]) -> T:
    for _ in range(_TRIES):
        try:
            return ask()
        except (AzureError, ValueError):
            time.sleep(0.05)
    raise Failure("The emulator doesn't list its pools, nodes and schedules.")
