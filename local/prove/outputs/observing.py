"""Observes a running stack: rounds, ages of jobs in the API, failures, requests for files, and the host's size.

Moments are seconds of the monotonic clock.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.prove.exact.judging import ShownJob, read_job
from local.prove.outputs.failing_job import JOB
from local.prove.stack.api import Stack
from local.prove.stack.rig import UNANSWERED

HOST = "host-1"
_JOBS_EVERY, _EMULATOR_EVERY, _HOST_EVERY, _GROUPS_EVERY = 2.0, 1.0, 5.0, 10.0  # seconds
_TICKS = 100  # of CPU time a second, on Linux
_USER, _SYSTEM, _GROUP = 11, 12, 2  # fields of /proc/PID/stat behind the name
_FILES = "/files"


@dataclass(frozen=True, slots=True)
class Age:
    """How old a job's counts were in the API, in seconds."""

    moment: float
    job: str
    as_of: float


@dataclass(frozen=True, slots=True)
class EmulatorLook:
    """The emulator's counters `at` a time: rounds begun, requests for files and their bytes, all requests of the host.

    `failed` is the true number of failed tasks of the failing job.
    """

    moment: float
    at: datetime
    failed: int
    rounds: int
    file_requests: int
    file_bytes: int
    calls: int


@dataclass(frozen=True, slots=True)
class HostLook:
    """CPU seconds of the host's processes so far, and their resident megabytes."""

    moment: float
    cpu: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class GroupLook:
    """How many outputs are kept by exit code, and the seconds that the answer took."""

    moment: float
    kept: dict[int, int]
    seconds: float


@dataclass(slots=True)
class Observations:
    """All looks in their order; `unanswered` counts those without an answer, by the error."""

    ages: list[Age] = field(default_factory=list)
    shown: list[tuple[float, ShownJob]] = field(default_factory=list)
    emulator: list[EmulatorLook] = field(default_factory=list)
    host: list[HostLook] = field(default_factory=list)
    groups: list[GroupLook] = field(default_factory=list)
    unanswered: Counter[str] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        return self.emulator[-1].failed if self.emulator else 0


class Observer:
    """Observes a stack with one host, the leader of the process group `group`."""

    def __init__(self, stack: Stack, group: int) -> None:
        self._stack, self._group = stack, group
        self.seen = Observations()

    async def run(self) -> None:
        """Runs until cancelled."""
        looks = (
            (self._look_at_jobs, _JOBS_EVERY),
            (self._look_at_emulator, _EMULATOR_EVERY),
            (self._look_at_host, _HOST_EVERY),
            (self._look_at_groups, _GROUPS_EVERY),
        )
        await asyncio.gather(*(self._repeat(look, every) for look, every in looks))

    async def _repeat(self, look: Callable[[], None], every: float) -> None:
        while True:
            following = time.monotonic() + every
            try:
                await asyncio.to_thread(look)
            except UNANSWERED as error:
                self.seen.unanswered[str(error)] += 1
            await asyncio.sleep(max(0.0, following - time.monotonic()))

    def _look_at_jobs(self) -> None:
        jobs, now, moment = self._stack.jobs(), datetime.now(UTC), time.monotonic()
        for job in jobs.values():
            if (verdict := job["verdict"]).get("asOf"):
                age = (now - datetime.fromisoformat(verdict["asOf"])).total_seconds()
                self.seen.ages.append(Age(moment, job["id"], age))
        if JOB in jobs:
            self.seen.shown.append((moment, read_job(jobs[JOB])))

    def _look_at_emulator(self) -> None:
        truth = self._stack.truth()
        counters, at, moment = self._stack.counters(), datetime.now(UTC), time.monotonic()
        self.seen.emulator.append(emulator_look(counters, truth[JOB]["failed"], at, moment))

    def _look_at_host(self) -> None:
        moment = time.monotonic()
        self.seen.host.append(HostLook(moment, *group_usage(self._group)))

    def _look_at_groups(self) -> None:
        began = time.monotonic()
        answer = self._stack.get(f"/accounts/{self._stack.account}/jobs/{JOB}/failures")
        moment, groups = time.monotonic(), answer["groups"]
        kept = {group["exitCode"]: group["kept"] for group in groups if group["exitCode"] is not None}
        self.seen.groups.append(GroupLook(moment, kept, moment - began))


def emulator_look(counters: dict[str, Any], failed: int, at: datetime, moment: float) -> EmulatorLook:
    """Returns a look from the emulator's counters. Each round begins with a list of jobs, here on one page."""
    routes = counters["routes"]
    files = [counted for route, counted in routes.items() if _FILES in route]
    return EmulatorLook(
        moment,
        at,
        failed,
        rounds=routes.get("GET /jobs", {}).get("requests", 0),
        file_requests=sum(counted["requests"] for counted in files),
        file_bytes=sum(counted.get("bytes", 0) for counted in files),
        calls=sum(counted["requests"] for name, counted in counters["clients"].items() if HOST in name),
    )


def group_usage(group: int) -> tuple[float, float]:
    """Returns the CPU seconds and resident megabytes of a process group's members. Raises OSError without /proc."""
    ticks, megabytes = 0, 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            if int(fields[_GROUP]) == group:
                ticks += int(fields[_USER]) + int(fields[_SYSTEM])
                megabytes += _resident(folder)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
    return ticks / _TICKS, megabytes


def _resident(folder: Path) -> float:
    lines = (folder / "status").read_text(encoding="utf-8").splitlines()
    return sum(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmRSS:"))
