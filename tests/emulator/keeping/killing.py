"""Kills an emulator with stored accounts while clients change them, restarts it, and checks its contents.

The journal records when each change was requested and acknowledged, by the clients' own clock. Names are never reused,
so the contents show which of the unsure changes were kept.
"""

import asyncio
import contextlib
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

_SAFE_SECONDS = 1.0
_TOKEN = "kills"
_VERSION = {"api-version": "2025-06-01"}
_TOGETHER = 20
_SPEED = 40.0
_NEVER = float("inf")


@dataclass(slots=True)
class Made:
    """The times at which creation, end and deletion of a job or task were requested and acknowledged."""

    made: float = _NEVER
    end_acknowledged: float = _NEVER
    deletion_asked: float = _NEVER
    deleted: float = _NEVER
    etag: str = ""


@dataclass(slots=True)
class Journal:
    """Tasks by job and id. Those of one collection share a stem, `stem-number`."""

    jobs: dict[str, Made] = field(default_factory=dict)
    tasks: dict[tuple[str, str], Made] = field(default_factory=dict)

    def before(self, moment: float) -> int:
        """Returns the number of changes acknowledged before a moment and since the last check."""
        made = (*self.jobs.values(), *self.tasks.values())
        moments = (each for one in made for each in (one.made, one.end_acknowledged, one.deleted))
        return sum(0 < each <= moment for each in moments)


@dataclass(slots=True)
class Found:
    """The problems found, and the number of checked changes that were acknowledged in time."""

    problems: list[str] = field(default_factory=list)
    checked: int = 0


class Killed:
    """An emulator on a directory, for killing and restarting."""

    def __init__(self, directory: Path) -> None:
        self._command = [sys.executable, "-m", "local.batch_emulator", "--port", "0", "--token", _TOKEN]
        self._command += ["--data", str(directory), "--speed", f"{_SPEED:g}", "--preemption", "60"]
        self.start()

    def start(self) -> None:
        self._program = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._program.stdout
        self.url = self._program.stdout.readline().split()[-1]

    def kill(self) -> float:
        """Kills the emulator; returns the moment before that."""
        moment = time.monotonic()
        self._program.kill()
        self._program.wait()
        assert self._program.stdout
        self._program.stdout.close()
        return moment


class Client:
    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session

    async def call(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {_TOKEN}"}
        url, params = f"{self._url}{path}", {**_VERSION, **query}
        async with self._session.request(method, url, json=body, params=params, headers=headers) as answer:
            return answer.status, await answer.json(content_type=None) if await answer.read() else None

    async def rows(self, path: str) -> list[dict[str, Any]]:
        found, query = [], dict[str, str]()
        while True:
            status, page = await self.call("GET", path, **query)
            assert status == 200, page
            found += page["value"]
            link = page.get("odata.nextLink")
            if not link:
                return found
            query = {"$skiptoken": link.partition("skiptoken=")[2].partition("&")[0]}


async def run_rounds(
    directory: Path,
    kills: int,
    seed: int,
    longest: float,
    *,
    told: Callable[[str], None] = lambda _: None,
    checks: int = 1,
) -> Found:
    """Kills `kills` times, each after at most `longest` seconds of changes, and reports a line for each.

    If the machine is too busy for `checks` checks by then, it continues for at most as many kills again.
    """
    rng, journal, found = random.Random(seed), Journal(), Found()  # noqa: S311
    emulator = Killed(directory)
    try:
        for number in range(2 * kills):
            if number >= kills and found.checked >= checks:
                break
            async with aiohttp.ClientSession() as session:
                client = Client(emulator.url, session)
                if not number:
                    await _prepare(client)
                workers = [asyncio.create_task(_change(client, journal, rng, f"r{number}w{n}")) for n in range(3)]
                await asyncio.sleep(rng.uniform(0.3, longest))
                killed = await asyncio.to_thread(emulator.kill)
                await asyncio.gather(*workers)
            await asyncio.to_thread(emulator.start)
            async with aiohttp.ClientSession() as session:
                safe = killed - _SAFE_SECONDS
                checked = journal.before(safe)
                problems = await _check(Client(emulator.url, session), journal, safe)
            told(f"kill {number + 1}: {checked:,} changes checked, {len(problems)} problems")
            found.checked += checked
            found.problems += [f"kill {number + 1}: {each}" for each in problems]
        async with aiohttp.ClientSession() as session:
            found.problems += await _run_out(Client(emulator.url, session))
    finally:
        emulator.kill()
    return found


async def _prepare(client: Client) -> None:
    body = {"id": "pool", "vmSize": "standard_d2s_v5", "targetDedicatedNodes": 20, "taskSlotsPerNode": 8}
    status, answer = await client.call("POST", "/pools", {**body, "targetLowPriorityNodes": 5})
    assert status == 201, answer


async def _change(client: Client, journal: Journal, rng: random.Random, name: str) -> None:
    """Makes random changes to its own jobs until the emulator is killed."""
    job, step = "", 0
    with contextlib.suppress(aiohttp.ClientError):
        while True:
            step += 1
            if not job or rng.random() < 0.02:
                if job:
                    await _delete(client, journal.jobs[job], f"/jobs/{job}")
                job = f"{name}-{step}"
                made = journal.jobs.setdefault(job, Made())
                await _expect(client, 201, "POST", "/jobs", {"id": job, "poolInfo": {"poolId": "pool"}})
                made.made = time.monotonic()
            await _add(client, journal, job, f"s{step}")
            known = [key for key, task in journal.tasks.items() if key[0] == job and task.deletion_asked == _NEVER]
            for key in rng.sample(known, min(len(known), 3)):
                path, task = f"/jobs/{job}/tasks/{key[1]}", journal.tasks[key]
                if rng.random() < 0.5:
                    await _delete(client, task, path)
                elif (await client.call("POST", f"{path}/terminate", {}))[0] == 204:
                    task.end_acknowledged = time.monotonic()
            await asyncio.sleep(0.01)


async def _add(client: Client, journal: Journal, job: str, stem: str) -> None:
    rows = [{"id": f"{stem}-{number}", "commandLine": "sleep 4"} for number in range(_TOGETHER)]
    for row in rows:
        journal.tasks[job, row["id"]] = Made()
    status, answer = await client.call("POST", f"/jobs/{job}/addtaskcollection", {"value": rows})
    assert status == 200, answer
    for result in answer["value"]:
        task = journal.tasks[job, result["taskId"]]
        task.made, task.etag = time.monotonic(), result["eTag"]


async def _delete(client: Client, made: Made, path: str) -> None:
    made.deletion_asked = time.monotonic()
    status, answer = await client.call("DELETE", path)
    assert status in (200, 202), answer
    made.deleted = time.monotonic()


async def _expect(client: Client, wanted: int, method: str, path: str, body: Any) -> None:
    status, answer = await client.call(method, path, body)
    assert status == wanted, answer


async def _check(client: Client, journal: Journal, safe: float) -> list[str]:
    """Compares the contents with the journal, then records the outcome of the unsure changes in it."""
    await client.call("POST", "/_emulator/clock", {"paused": True})
    jobs = {row["id"]: row["state"] for row in await client.rows("/jobs")}
    open_jobs = {name for name, state in jobs.items() if state != "deleting"}
    problems = [
        f"job {name} is lost" for name, made in journal.jobs.items() if _is_lost(made, safe, is_there=name in jobs)
    ]
    problems += [f"job {name} is back" for name in open_jobs if journal.jobs[name].deleted <= safe]
    tasks: dict[tuple[str, str], dict[str, Any]] = {}
    for name in jobs:
        rows = await client.rows(f"/jobs/{name}/tasks")
        problems += await _check_counts(client, name, rows)
        tasks |= {(name, row["id"]): row for row in rows}
    problems += _check_tasks(journal, tasks, open_jobs, safe)
    journal.jobs = {name: Made(made=0) for name in open_jobs}
    journal.tasks = {
        key: Made(made=0, etag=row["eTag"], end_acknowledged=0 if row["state"] == "completed" else _NEVER)
        for key, row in tasks.items()
        if key[0] in open_jobs
    }
    await client.call("POST", "/_emulator/clock", {"paused": False})
    return problems


def _check_tasks(
    journal: Journal, tasks: dict[tuple[str, str], dict[str, Any]], open_jobs: set[str], safe: float
) -> list[str]:
    problems = [f"task {key} was never asked for" for key in tasks if key[0] in open_jobs and key not in journal.tasks]
    stems: dict[tuple[str, str], Counter[bool]] = {}
    for key, made in journal.tasks.items():
        if key[0] not in open_jobs:
            continue
        row = tasks.get(key)
        if _is_lost(made, safe, is_there=row is not None):
            problems.append(f"task {key} is lost")
        if row and made.deleted <= safe:
            problems.append(f"task {key} is back")
        if row and made.end_acknowledged <= safe and row["state"] != "completed":
            problems.append(f"task {key} has not ended")
        if row and made.etag and row["eTag"] != made.etag:
            problems.append(f"task {key} has another ETag")
        if made.deletion_asked == _NEVER:
            stems.setdefault((key[0], key[1].partition("-")[0]), Counter())[row is not None] += 1
    return problems + [f"collection {stem} is there in part" for stem, found in stems.items() if len(found) > 1]


def _is_lost(made: Made, safe: float, *, is_there: bool) -> bool:
    return made.made <= safe and made.deletion_asked == _NEVER and not is_there


async def _check_counts(client: Client, job: str, rows: list[dict[str, Any]]) -> list[str]:
    _, answer = await client.call("GET", f"/jobs/{job}/taskcounts")
    counts, states = answer["taskCounts"], Counter(row["state"] for row in rows)
    listed = {"active": states["active"], "running": states["running"] + states["preparing"]}
    listed["completed"] = states["completed"]
    shown = {name: counts[name] for name in listed}
    return [] if shown == listed else [f"job {job} counts {shown} and lists {listed}"]


async def _run_out(client: Client) -> list[str]:
    """Waits until all tasks of all jobs have ended."""
    left = dict[str, int]()
    for _ in range(300):
        truth = (await client.call("GET", "/_emulator/truth"))[1]["accounts"]["demo"]
        left = {name: job["total"] - job["completed"] for name, job in truth["jobs"].items()}
        if not any(left.values()):
            return []
        await asyncio.sleep(0.1)
    return [f"{count} tasks of {job} never ended" for job, count in left.items() if count]
