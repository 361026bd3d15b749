"""Closed-loop load on loopback: each of several clients sends its next request after an answer."""

import asyncio
import time
from dataclasses import dataclass
from http import HTTPStatus
from itertools import count
from math import inf
from pathlib import Path

import aiohttp

CLOCK_TICKS = 100  # per second, in /proc


@dataclass(frozen=True, slots=True)
class Load:
    """The results: sorted seconds per request, requests a second, and the server's CPU seconds per request."""

    seconds: list[float]
    rate: float
    cpu: float

    def quantile(self, share: float) -> float:
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * share))]


async def load(url: str, *, clients: int, seconds: float, most: float = inf, pid: int) -> Load:
    """Requests an address for `seconds`, at most `most` times.

    `{n}` in it becomes another number each time, `{n50}` a two-digit number that repeats after fifty requests.

    Raises RuntimeError for any answer other than 200.
    """
    took, numbers = list[float](), count(1)
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(timeout=timeout, headers={"Accept-Encoding": "identity"}) as session:
        await _ask(session, _numbered(url, 0))
        spent, began = cpu_of(pid), time.perf_counter()

        async def client() -> None:
            while time.perf_counter() - began < seconds and len(took) < most:
                start = time.perf_counter()
                await _ask(session, _numbered(url, next(numbers)))
                took.append(time.perf_counter() - start)

        await asyncio.gather(*(client() for _ in range(clients)))
        return Load(sorted(took), len(took) / (time.perf_counter() - began), (cpu_of(pid) - spent) / len(took))


async def size_of(url: str) -> int:
    """Returns the bytes of an answer. Raises RuntimeError for any other than 200."""
    async with aiohttp.ClientSession(headers={"Accept-Encoding": "identity"}) as session:
        return await _ask(session, url)


def _numbered(url: str, number: int) -> str:
    return url.replace("{n}", str(number)).replace("{n50}", f"{number % 50:02}")


async def _ask(session: aiohttp.ClientSession, url: str) -> int:
    async with session.get(url) as answer:
        body = await answer.read()
        if answer.status != HTTPStatus.OK:
            raise RuntimeError(f"{url} answered {answer.status}: {body[:300]!r}")
        return len(body)


def cpu_of(pid: int) -> float:
    """Returns the CPU seconds of a process and its children; 0 if the system doesn't report it."""
    return sum(map(_own_cpu, [pid, *_children(pid)]))


def peak_of(pid: int) -> float:
    """Returns the highest peak MB of a process and its children; 0 if the system doesn't report it."""
    return max(map(_own_peak, [pid, *_children(pid)]))


def _own_peak(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in text.splitlines() if line.startswith("VmHWM:")), 0.0)


def _own_cpu(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    try:
        lists = [path.read_text(encoding="ascii") for path in tasks.glob("*/children")]
    except OSError:
        return []
    direct = [int(child) for text in lists for child in text.split()]
    return [found for child in direct for found in (child, *_children(child))]
