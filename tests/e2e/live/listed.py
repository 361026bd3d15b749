"""Tasks as Batch itself lists them. It shares no code with the app."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from azure.batch import BatchClient

from local.prove.stack.api import Stack

_MILLISECOND = timedelta(milliseconds=1)
STATES = ("active", "preparing", "running", "completed")

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
    depends: bool = field(default=False, compare=False)  # on other tasks; no list of the API shows it

    @classmethod
    def of(cls, sent: Mapping[str, Any]) -> "Listed":
        run, node = sent.get("executionInfo") or {}, sent.get("nodeInfo") or {}
        failure = run.get("failureInfo") or {}
        return cls(
            sent["id"],
            sent["state"],
            run.get("result"),
            (failure.get("category"), failure.get("code"), run.get("exitCode")),
            moment(sent["creationTime"]),
            moment(run["startTime"]) if "startTime" in run else None,
            moment(run["endTime"]) if "endTime" in run else None,
            moment(sent["stateTransitionTime"]),
            (run.get("retryCount", 0), run.get("requeueCount", 0)),
            sent.get("requiredSlots", 1),
            (node.get("poolId"), node.get("nodeId")),
            bool(sent.get("dependsOn")),
        )

    def until(self, known: int) -> int:
        """Returns the end of its run, or `known` if it runs."""
        ended = known if self.state == "running" else self.ended or self.moved
        return max(ended, self.started or 0)


def listed(stack: Stack, client: BatchClient) -> dict[str, list[Listed]]:
    """Returns all tasks of all jobs as the official client lists them."""
    return {job: [Listed.of(task.as_dict()) for task in client.list_tasks(job)] for job in stack.truth()}


def counted(tasks: list[Listed]) -> dict[str, int]:
    states, results = Counter(task.state for task in tasks), Counter(task.result for task in tasks)
    counts = {state: states[state] for state in STATES}
    return {**counts, "succeeded": results["success"], "failed": results["failure"], "total": len(tasks)}


def moment(text: str) -> int:
    """Returns milliseconds since 1970, rounded down."""
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // _MILLISECOND
