"""Seeded churn: the usage equals what polls that miss nothing compute from stamps, and adds up."""

from collections import defaultdict
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from local.batch_emulator.core.stamps import SECOND, ticks
from tests.emulator.conftest import START
from tests.emulator.support.driver import Driver
from tests.emulator.support.usage_observer import TaskKey, UsageObserver

_SLOTS = 3
_ACTIONS = 60
_SECONDS_PER_ACTION = 4.0
_RUNS = 100
_PREPARATION = (0.3, 4.0)  # the seconds from a run's assignment to its start
_INSTANTS = 40
_OPTIONS = ("requeue", "terminate", "taskcompletion")


class Churn:
    """A pool and a job in which a user and chance change something all the time."""

    def __init__(self, driver: Driver, seed: int) -> None:
        self.driver = driver
        self.seen = UsageObserver()
        self.now = datetime.fromisoformat(START)
        self.rng = driver.emulator.simulations["other"].context.rng  # of an account that does nothing
        self.rng.seed(seed)
        self._is_deleting = False
        self._actions: list[Callable[[], Awaitable[Any]]] = [
            self._resize, self._resize, self._restart, self._set_scheduling, self._end_task, self._end_task,
            self._reactivate, self._reactivate, self._add_tasks, self._add_tasks, self._disable_job, self._add_tasks,
            self._end_task, self._delete_job,
        ]  # fmt: skip

    async def run(self) -> None:
        settings = {"preemptionSeconds": 60, "nodeLossSeconds": 150}
        await self.driver.control("POST", "settings", settings)
        nodes: dict[str, Any] = {"targetDedicatedNodes": 5, "targetLowPriorityNodes": 5, "taskSlotsPerNode": _SLOTS}
        await self.driver.add_pool(startTask={"commandLine": "sleep 3", "waitForSuccess": True}, **nodes)
        await self._add_job()
        for _ in range(_ACTIONS):
            await self.rng.choice(self._actions)()
            await self._poll()
            end = self.driver.emulator.clock.now + ticks(_SECONDS_PER_ACTION)
            while self.driver.emulator.clock.now < end:
                await self._advance(end)

    async def _advance(self, end: int) -> None:
        """Advances to the next event, at most to a moment, and polls."""
        emulator = self.driver.emulator
        due = min(end, emulator.event_queue._due[0][0])
        answer = await self.driver.control("POST", "clock", {"advanceSeconds": (due - emulator.clock.now) / SECOND})
        self.now = datetime.fromisoformat(answer["time"])
        await self._poll()

    async def _poll(self) -> None:
        if self._is_deleting and (await self.driver.call("GET", "/jobs/job")).status == 404:
            self._is_deleting = False
            await self._add_job()
        await self.seen.poll(self.driver, "pool", None if self._is_deleting else "job")

    async def _add_job(self) -> None:
        await self.driver.add_job(jobPreparationTask={"commandLine": "sleep 2"})
        await self._add_tasks()

    async def _add_tasks(self) -> None:
        rng = self.rng
        names = rng.sample(range(60), 25)
        tasks = [
            {
                "id": f"t{name:03}",
                "commandLine": f"sleep {rng.randint(1, 20)}; exit {rng.choice((0, 0, 1))}",
                "requiredSlots": rng.randint(1, _SLOTS),
                "constraints": {"maxTaskRetryCount": rng.randint(0, 2)},
            }
            for name in names
        ]
        await self.driver.call("POST", "/jobs/job/addtaskcollection", {"value": tasks})

    async def _resize(self) -> None:
        targets = {"targetDedicatedNodes": self.rng.randint(3, 7), "targetLowPriorityNodes": self.rng.randint(3, 7)}
        body = {**targets, "nodeDeallocationOption": self.rng.choice(_OPTIONS)}
        await self.driver.call("POST", "/pools/pool/resize", body)

    async def _restart(self) -> None:
        verb, name = self.rng.choice((("reboot", "nodeRebootOption"), ("reimage", "nodeReimageOption")))
        await self._on_node(verb, {name: self.rng.choice(_OPTIONS)})

    async def _set_scheduling(self) -> None:
        body = {"nodeDisableSchedulingOption": self.rng.choice(_OPTIONS)}
        await self._on_node("disablescheduling", body)
        await self._on_node("enablescheduling", None)

    async def _on_node(self, verb: str, body: Any) -> None:
        if nodes := await self.driver.rows("/pools/pool/nodes", _select="id"):
            name = self.rng.choice(nodes)["id"]
            await self.driver.call("POST", f"/pools/pool/nodes/{name}/{verb}", body)

    async def _end_task(self) -> None:
        if (task := await self._some_task("running")) is None:
            return
        if self.rng.random() < 0.5:
            await self.driver.call("POST", f"/jobs/job/tasks/{task}/terminate", {})
        elif (await self.driver.call("DELETE", f"/jobs/job/tasks/{task}")).status == 200:
            self.seen.end_runs("job", self.now, task)

    async def _reactivate(self) -> None:
        if task := await self._some_task("completed"):
            await self.driver.call("POST", f"/jobs/job/tasks/{task}/reactivate", {})

    async def _some_task(self, state: str) -> str | None:
        if self._is_deleting:
            return None
        found = await self.driver.rows("/jobs/job/tasks", _filter=f"state eq '{state}'")
        return str(self.rng.choice(found)["id"]) if found else None

    async def _disable_job(self) -> None:
        await self.driver.call("POST", "/jobs/job/disable", {"disableTasks": self.rng.choice(_OPTIONS[:2])})
        await self.driver.call("POST", "/jobs/job/enable", {})

    async def _delete_job(self) -> None:
        if (await self.driver.call("DELETE", "/jobs/job")).status == 202:
            self._is_deleting = True
            self.seen.end_runs("job", self.now)


async def _usage(driver: Driver, query: str = "") -> Any:
    return (await driver.control("GET", f"usage{query}"))["accounts"]["demo"]


def _by_node(usage: Any) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in usage["nodes"]:
        found[row["node"]][row["state"]] = row["seconds"]
    return found


def _by_task(usage: Any) -> dict[TaskKey, list[Any]]:
    found: dict[TaskKey, list[Any]] = defaultdict(list)
    for row in usage["slots"]:
        found[row["job"], row["creationTime"], row["task"]].append(row)
    return {key: sorted(rows, key=lambda row: row["attempt"]) for key, rows in found.items()}


def _totals(usage: Any) -> dict[tuple[Any, ...], float]:
    """Returns the seconds of nodes, slots and running tasks by everything else."""
    found = {}
    for kind in ("nodes", "slots"):
        for row in usage[kind]:
            identity = tuple(value for name, value in row.items() if not name.lower().endswith("seconds"))
            found[kind, *identity] = row["seconds"]
            found["runs", kind, *identity] = row.get("runningSeconds", 0)
    return found


@pytest.mark.parametrize("seed", [1, 2])
async def test_usage_of_a_churning_pool_is_that_of_its_stamps_and_adds_up(stepped: Driver, seed: int) -> None:
    churn = Churn(stepped, seed)
    await churn.run()
    usage = await _usage(stepped)
    _check_states(churn, _by_node(usage))
    _check_lives(churn, _by_node(usage))
    _check_runs(churn, _by_task(usage))
    _check_kinds(usage)
    await _check_windows(churn, _totals(usage))
    await _check_slots(churn)


def _check_states(churn: Churn, found: dict[str, dict[str, float]]) -> None:
    """Nodes were in each state as long as their stamps say, which bear no end of leavingpool."""
    for node, states in churn.seen.states.items():
        expected, actual = defaultdict(float, states), defaultdict(float, found[node])
        if last := churn.seen.open_states.get(node):
            expected[last[0]] += (churn.now - last[1]).total_seconds()
        else:
            expected["leavingpool"] = actual["leavingpool"]
        assert actual == pytest.approx({state: s for state, s in expected.items() if s}, abs=1e-5), node


def _check_lives(churn: Churn, found: dict[str, dict[str, float]]) -> None:
    """The states of each node add up to the time from its allocation until it left, or now."""
    account = churn.driver.emulator.simulations["demo"].account
    now = churn.driver.emulator.clock.now
    lives = [lease.end - lease.start for lease in account.leases]
    lives += [now - node.allocated for pool in account.pools.values() for node in pool.nodes.values()]
    assert sorted(sum(states.values()) for states in found.values()) == pytest.approx(
        sorted(life / 1e7 for life in lives), abs=1e-6
    )


def _check_runs(churn: Churn, found: dict[TaskKey, list[Any]]) -> None:
    """Runs are numbered from 1 on, and those that started lasted as long as their stamps say."""
    assert churn.seen.runs.keys() <= found.keys()
    for key, rows in found.items():
        assert [row["attempt"] for row in rows] == list(range(1, len(rows) + 1))
        assert all(row["seconds"] - row["runningSeconds"] <= _PREPARATION[1] for row in rows)
        assert all(row["seconds"] - row["runningSeconds"] >= _PREPARATION[0] for row in rows if row["runningSeconds"])
        ran = [row["runningSeconds"] for row in rows if row["runningSeconds"]]
        expected = list(churn.seen.runs.get(key, []))
        if key in churn.seen.open_runs:
            expected.append((churn.now - churn.seen.open_runs[key]).total_seconds())
        assert ran == pytest.approx(expected, abs=1e-5), key


def _check_kinds(usage: Any) -> None:
    """The churn had everything that it is about."""
    assert len(usage["slots"]) > _RUNS
    outcomes = {row["outcome"] for row in usage["slots"]}
    assert outcomes >= {"succeeded", "failed", "retried", "preempted", "lost", "requeued", "terminated", "deleted"}
    states = {row["state"] for row in usage["nodes"]}
    assert states >= {"idle", "running", "creating", "starting", "waitingforstarttask", "preempted", "unusable"}
    assert states >= {"leavingpool", "rebooting"}
    created = defaultdict(set)
    for row in usage["slots"]:
        created[row["task"]].add(row["creationTime"])
    assert max(map(len, created.values())) > 1


async def _check_windows(churn: Churn, whole: dict[tuple[Any, ...], float]) -> None:
    """Windows that follow each other have, together, the seconds of the whole."""
    span = (churn.now - datetime.fromisoformat(START)).total_seconds()
    cuts = [_stamp(churn.rng.uniform(0, span)) for _ in range(8)]
    bounds = ["2026-01-01T00:00:00Z", *sorted(cuts), "2026-02-01T00:00:00Z"]
    totals: dict[tuple[Any, ...], float] = defaultdict(float)
    for start, end in pairwise(bounds):
        for key, seconds in _totals(await _usage(churn.driver, f"?from={start}&to={end}")).items():
            totals[key] += seconds
    assert totals == pytest.approx(whole, abs=1e-6)


async def _check_slots(churn: Churn) -> None:
    """At no instant has a node more slots held than it offers, and busy nodes run something."""
    span = (churn.now - datetime.fromisoformat(START)).total_seconds()
    for _ in range(_INSTANTS):
        instant = _stamp(churn.rng.uniform(0, span)).removesuffix("Z")
        usage = await _usage(churn.driver, f"?from={instant}0Z&to={instant}1Z")
        held: dict[str, int] = defaultdict(int)
        for row in usage["slots"]:
            held[row["node"]] += row["slots"]
        assert all(slots <= _SLOTS for slots in held.values())
        states = {row["node"]: row["state"] for row in usage["nodes"]}
        assert len(states) == len(usage["nodes"])
        assert {node for node, state in states.items() if state == "running"} <= held.keys() <= states.keys()


def _stamp(seconds: float) -> str:
    moment = datetime.fromisoformat(START) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
