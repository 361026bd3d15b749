"""Batch's resource log as Azure Monitor writes it: a blob per hour, with repeats and malformed lines."""

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from azure.storage.blob.aio import ContainerClient

from local.prove.ingest.book import LoggedEvent, WrittenData
from local.prove.ingest.pens import POOL
from local.prove.ingest.stream import Stream

_RESOURCE = "/SUBSCRIPTIONS/S/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/DEMO"
_KINDS = ("TaskStartEvent", "TaskCompleteEvent", "TaskFailEvent")
_PAUSE = (0.2, 1.2)  # seconds between appends
_LINES = (1, 60)  # per append
_REPEATED, _BAD, _MAX_BAD = 0.04, 0.01, 60  # shares of lines; the maximum of malformed ones per blob
_NEXT, _LATE = 0.05, 0.2  # shares of appends: the hour ends after it; it goes to an earlier hour
_HOURS = 4  # in all, so that each repeat is within the six hours in which repeats are detected
type Key = tuple[str, str, str]


class LogWriter:
    """The writer of the log; `begin` is the first logged hour."""

    def __init__(self, container: ContainerClient, book: WrittenData, *, seed: int, begin: datetime) -> None:
        self._container, self._book, self._begin = container, book, begin.replace(minute=0, second=0, microsecond=0)
        self._chance = random.Random(f"{seed} logs")
        self._streams: list[Stream] = []
        self._bad = [0] * _HOURS
        self._keys: list[Key] = []

    async def run(self, goes_on: Callable[[], bool]) -> None:
        """Writes while `goes_on` returns True, then completes the last lines."""
        await self._next_hour()
        while goes_on():
            is_late = self._chance.random() < _LATE
            await self._append(self._chance.randrange(len(self._streams)) if is_late else len(self._streams) - 1)
            if self._chance.random() < _NEXT and len(self._streams) < _HOURS:
                await self._next_hour()
            await asyncio.sleep(self._chance.uniform(*_PAUSE))
        for number, stream in enumerate(self._streams):
            await stream.close(sealed=False)
            self._book.log_sizes[self._name(number)] = stream.size

    def _name(self, hour: int) -> str:
        at = self._begin + timedelta(hours=hour)
        return f"resourceId={_RESOURCE}/y={at:%Y}/m={at:%m}/d={at:%d}/h={at:%H}/m=00/PT1H.json"

    async def _next_hour(self) -> None:
        stream = Stream(self._container, self._name(len(self._streams)), self._chance)
        await stream.create()
        self._streams.append(stream)

    async def _append(self, hour: int) -> None:
        stream, content = self._streams[hour], b""
        for _ in range(self._chance.randint(*_LINES)):
            if self._chance.random() < _BAD and self._bad[hour] < _MAX_BAD:
                self._bad[hour] += 1
                self._book.bad_lines.append((self._name(hour), stream.size + len(content)))
                content += b'{"time": "2026-08\n'
            content += self._line(hour)
        await stream.append(content)
        self._book.log_sizes[self._name(hour)] = stream.size

    def _line(self, hour: int) -> bytes:
        """Returns a new event, or sometimes an earlier one; each delivery has its own time."""
        at = self._begin + timedelta(hours=hour, milliseconds=self._chance.randrange(3_600_000))
        time = f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}0Z"
        is_repeat = self._keys and self._chance.random() < _REPEATED
        key = self._chance.choice(self._keys) if is_repeat else self._happen()
        self._book.logged.setdefault(key, []).append(time)
        common: Mapping[str, Any] = {"time": time, "resourceId": _RESOURCE, "operationName": key[0]}
        line = json.dumps({**common, "properties": self._book.happenings[key].properties}).encode()
        return line + self._chance.choice((b"\n", b"\r\n"))

    def _happen(self) -> Key:
        number = len(self._keys)
        kind, job, task = self._chance.choice(_KINDS), f"job-{number % 7}", f"task-{number}"
        properties = {
            "jobId": job,
            "id": task,
            "taskType": "User",
            "nodeInfo": {"poolId": POOL, "nodeId": f"node-{number % 5}"},
            "executionInfo": {"retryCount": 0, "exitCode": self._chance.randrange(3)},
        }
        self._keys.append((kind, job, task))
        self._book.happenings[self._keys[-1]] = LoggedEvent(kind, job, task, properties)
        return self._keys[-1]
