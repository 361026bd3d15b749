"""Pools with nodes, and changes of many nodes, added to the emulator's own entities in one step."""

import random
from typing import Any

import orjson
from aiohttp import web

from local.batch_emulator.core.stamps import SECOND
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Job, Node, Pool, Run, Task

_SPEC = {"commandLine": "/bin/sh -c 'render frame'"}
_VM_SIZE, _SLOTS = "standard_d4s_v5", 4
_RECENT = 10


class PoolFilling:
    """Creates pools whose nodes have run tasks for hours. They change only on request."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._dice = random.Random(5)  # noqa: S311 - the same each time
        self._numbers = 0

    async def fill(self, request: web.BaseRequest) -> dict[str, int]:
        """Creates `pools` of `nodes` each, in an account with a `job`; `running` nodes of each run a task.

        `spec` has further properties of the pools, as a request to add one.
        """
        asked = orjson.loads(await request.read())
        simulation = next(iter(self._emulator.simulations.values()))
        job = simulation.account.jobs[asked["job"]]
        for number in range(asked["pools"]):
            name = f"pool-{number:03}"
            spec = {"id": name, "vmSize": _VM_SIZE, "taskSlotsPerNode": _SLOTS, **asked.get("spec", {})}
            pool = simulation.pools.create(name, spec)
            for place in range(asked["nodes"]):
                node = self._node(pool, place)
                node.recent.extend((job, self._task()) for _ in range(_RECENT))
                if place < asked["running"]:
                    self._run(node, job)
        return {"pools": asked["pools"]}

    async def change(self, request: web.BaseRequest) -> dict[str, int]:
        """Starts or ends a task, or changes the state, on `count` nodes, spread evenly over the first `pools` pools."""
        asked = orjson.loads(await request.read())
        account = next(iter(self._emulator.simulations.values())).account
        pools, job = list(account.pools.values())[: asked["pools"]], account.jobs[asked["job"]]
        share, rest = divmod(asked["count"], len(pools))
        for number, pool in enumerate(pools):
            for node in self._dice.sample(list(pool.nodes.values()), share + (number < rest)):
                if asked["kind"] == "tasks":
                    self._turn(node, job)
                else:
                    node.state = "idle" if node.state == "offline" else "offline"
                    node.changed = self._emulator.clock.now
        return {"changed": asked["count"]}

    def _turn(self, node: Node, job: Job) -> None:
        if not node.visible_runs:
            self._run(node, job)
            return
        node.visible_runs.clear()
        node.state, node.changed = "idle", self._emulator.clock.now
        node.total, node.succeeded = node.total + 1, node.succeeded + 1

    def _node(self, pool: Pool, place: int) -> Node:
        began = self._emulator.clock.now - 7200 * SECOND
        name = f"tvmps_{self._dice.getrandbits(256):064x}_d"
        node = Node(
            id=name,
            number=self._number(),
            pool=pool,
            dedicated=True,
            bias=0,
            allocated=began,
            changed=began + self._dice.randrange(7000) * SECOND,
            free=_SLOTS,
            ip=f"10.0.{place // 250}.{place % 250 + 4}",
            state="idle",
            booted=began + 30 * SECOND,
            total=self._dice.randrange(400),
            vm_size=_VM_SIZE,
            agent_version=self._emulator.settings.nodeAgentVersion,
        )
        node.succeeded = node.total
        pool.nodes[name] = node
        return node

    def _run(self, node: Node, job: Job) -> None:
        task = self._task()
        task.state = "running"
        node.visible_runs[Run(self._number(), job, task, node)] = None
        node.recent.append((job, task))
        node.state, node.changed = "running", self._emulator.clock.now

    def _task(self) -> Task:
        number, now = self._number(), self._emulator.clock.now
        task: Any = Task(f"task-{number:06}", f"task-{number:06}", number, _SPEC, 1, 0, now, now)
        task.state = "completed"
        found: Task = task
        return found

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers
