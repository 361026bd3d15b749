"""The Batch emulator with a second port: creates jobs of a million tasks, and changes many tasks, in one step.

It runs in a separate process and prints the addresses of both ports. `POST /fill` and `POST /change` modify the
emulator's own entities as hours of adding and running would have done. Lists, filters and counts are the emulator's.
"""

import asyncio
import gc
import random
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import orjson
from aiohttp import web

from bench.emulated.filled_pools import PoolFilling
from local.batch_emulator.core.stamps import SECOND, to_node_precision
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Failure, Job, Task
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY

_SPEC = {"commandLine": "/bin/sh -c 'render frame'"}
_FAILED = Failure("userError", "FailureExitCode", "The task exited with an exit code representing a failure")
_NODES = 200
_COMPLETED, _RUNNING, _FAILING = 0.55, 0.6, 0.02


class Filling:
    """Creates tasks as hours of work leave them: added by the hundred, run in waves, one in fifty failed."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._dice = random.Random(5)  # noqa: S311 - the same each time
        self._sorted_of, self._sorted = "", list[Task]()
        self._nodes = [f"tvmps_{self._dice.getrandbits(256):064x}_d" for _ in range(_NODES)]

    async def fill(self, request: web.BaseRequest) -> dict[str, int]:
        asked = orjson.loads(await request.read())
        job, count = self._job(asked["job"]), asked["count"]
        began = self._emulator.clock.now - 7200 * SECOND
        for number, name in enumerate(self._names(asked["ids"], count)):
            created = began + number // 100 * (1800 * SECOND * 100 // count)
            task = Task(name, name, number, _SPEC, 1, 0, created, created)
            chance = self._dice.random()
            if chance < _RUNNING:
                self._run(task, created + 1800 * SECOND, is_over=chance < _COMPLETED)
            job.tasks.add(task)
            self._record(job, task, before=None)
        gc.freeze()  # else a list pauses for half a second while the garbage collector scans them all
        return {"tasks": len(job.tasks)}

    async def change(self, request: web.BaseRequest) -> dict[str, int]:
        """Ends another run of tasks: of those from `start` on in id order, or of random ones."""
        asked = orjson.loads(await request.read())
        job, count = self._job(asked["job"]), asked["count"]
        tasks = self._in_order(job)
        start = asked.get("start")
        chosen = self._dice.sample(tasks, count) if start is None else tasks[start : start + count]
        for task in chosen:
            before = task.kind
            task.previous, task.previous_changed = task.state, task.changed
            self._run(task, self._emulator.clock.now - 90 * SECOND, is_over=True, now=self._emulator.clock.now)
            job.tasks.log_change(task)
            self._record(job, task, before=before)
        return {"changed": len(chosen)}

    def _in_order(self, job: Job) -> list[Task]:
        """Returns the tasks in id order, sorted again only after tasks were added."""
        if (job.id, len(job.tasks)) != (self._sorted_of, len(self._sorted)):
            self._sorted_of, self._sorted = job.id, sorted(job.tasks, key=lambda task: task.key)
        return self._sorted

    def _names(self, kind: str, count: int) -> Iterator[str]:
        if kind == "guid":
            return (str(uuid.UUID(int=self._dice.getrandbits(128), version=4)) for _ in range(count))
        return (f"task-{number:06}" for number in range(count))

    def _run(self, task: Task, start: int, *, is_over: bool, now: int | None = None) -> None:
        """Adds a run of about a minute and a half; stamps of nodes have six digits."""
        task.pool_id, task.node_id = "render-pool", self._dice.choice(self._nodes)
        task.started = to_node_precision(start + int(self._dice.random() * 30 * SECOND))
        task.state, task.changed = "running", task.started
        if is_over:
            failed = self._dice.random() < _FAILING
            task.ended = to_node_precision(now or task.started + int((60 + self._dice.random() * 60) * SECOND))
            task.state, task.changed = "completed", task.ended
            task.exit_code, task.result = (1, "failure") if failed else (0, "success")
            task.failure = _FAILED if failed else None

    def _record(self, job: Job, task: Task, *, before: str | None) -> None:
        job.task_counts.move(1, before=before, after=task.kind, now=self._emulator.clock.now, lag=0)

    def _job(self, name: str) -> Job:
        return next(iter(self._emulator.simulations.values())).account.jobs[name]


async def _serve() -> None:
    emulator = Emulator({"demo": DEVELOPMENT_KEY}, stepped="--stepped" in sys.argv)
    server, filling = Server(emulator), Filling(emulator)
    pools = PoolFilling(emulator)
    actions = {"/fill": filling.fill, "/change": filling.change, "/pools": pools.fill, "/nodes": pools.change}

    async def answer(request: web.BaseRequest) -> web.Response:
        found: Any = await actions[request.path](request)
        return web.Response(body=orjson.dumps(found), content_type="application/json")

    port = await server.start()
    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"http://127.0.0.1:{port} http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # ends with the benchmark
    await runner.cleanup()
    await server.stop()


if __name__ == "__main__":
    asyncio.run(_serve())
