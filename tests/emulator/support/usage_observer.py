"""Nodes' states and tasks' runs as polls of the lists show them, by their stamps: to compare usage with."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.emulator.support.driver import Driver

type TaskKey = tuple[str, str, str]


@dataclass(slots=True)
class UsageObserver:
    """Seconds of ended states by node, and of ended runs by job, creation time and task id, in their order.

    Polls must follow each event of the simulation. `open_states` and `open_runs` have the starts of what still lasts.
    """

    states: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    open_states: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    runs: dict[TaskKey, list[float]] = field(default_factory=lambda: defaultdict(list))
    open_runs: dict[TaskKey, datetime] = field(default_factory=dict)

    async def poll(self, driver: Driver, pool: str, job: str | None) -> None:
        """Reads the nodes of a pool and the tasks of a job, unless that is None."""
        nodes = await driver.rows(f"/pools/{pool}/nodes", _select="id,state,stateTransitionTime,allocationTime")
        for row in nodes:
            self._observe_node(row)
        for gone in self.open_states.keys() - {row["id"] for row in nodes}:
            self.open_states.pop(gone)
        for row in await driver.rows(f"/jobs/{job}/tasks") if job else ():
            self._observe_task((job or "", row["creationTime"], row["id"]), row)

    def end_runs(self, job: str, moment: datetime, task: str | None = None) -> None:
        """Ends the open runs of a job, or of one task, that was deleted at a moment."""
        for key in [key for key in self.open_runs if key[0] == job and task in (None, key[2])]:
            self._end_run(key, moment)

    def _observe_node(self, row: Any) -> None:
        state, since = row["state"], datetime.fromisoformat(row["stateTransitionTime"])
        if not (known := self.open_states.get(row["id"])):
            assert since == datetime.fromisoformat(row["allocationTime"])
        elif known != (state, since):
            self.states[row["id"]][known[0]] += (since - known[1]).total_seconds()
        self.open_states[row["id"]] = (state, since)

    def _observe_task(self, key: TaskKey, row: Any) -> None:
        info = row.get("executionInfo") or {}
        started = datetime.fromisoformat(info["startTime"]) if "startTime" in info else None
        if key in self.open_runs and not (row["state"] == "running" and started == self.open_runs[key]):
            self._end_run(key, datetime.fromisoformat(_end_of_run(row)))
        if row["state"] == "running" and started:
            self.open_runs[key] = started

    def _end_run(self, key: TaskKey, moment: datetime) -> None:
        self.runs[key].append((moment - self.open_runs.pop(key)).total_seconds())


def _end_of_run(row: Any) -> str:
    """Returns when the run before a task's present state ended."""
    if row["state"] == "completed":
        found = row["executionInfo"]["endTime"]
    elif row["state"] == "active":
        found = row["stateTransitionTime"]
    else:
        assert (row["state"], row["previousState"]) == ("preparing", "active")
        found = row["previousStateTransitionTime"]
    return str(found)
