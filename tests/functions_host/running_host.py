"""Runs the host as users do, in a separate process, and communicates with it over its socket."""

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]
SAMPLE = Path(__file__).parent / "sample_app"
START_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True)
class RunningHost:
    folder: Path
    child: subprocess.Popen[bytes] = field(init=False)
    url: str = ""

    @classmethod
    def start(cls, folder: Path, app: Path, environment: Mapping[str, str], *arguments: str) -> "RunningHost":
        """Starts a host that writes its output to `folder`. Call `wait_ready` next."""
        folder.mkdir(parents=True, exist_ok=True)
        host = cls(folder)
        command = [sys.executable, "-m", "local.functions_host", str(app), *arguments]
        clean = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
        with (folder / "out").open("wb") as out, (folder / "log").open("wb") as log:
            host.child = subprocess.Popen(command, cwd=ROOT, env={**clean, **environment}, stdout=out, stderr=log)
        return host

    def wait_ready(self) -> "RunningHost":
        self.url = until(self._listening, START_SECONDS)
        return self

    def _listening(self) -> str | None:
        if self.child.poll() is not None:
            raise AssertionError(f"the host ended with {self.child.returncode}: {self.log}")
        lines = [line for line in self.output.splitlines() if line.startswith("listening on ")]
        return lines[0].removeprefix("listening on ") if lines else None

    @property
    def output(self) -> str:
        return (self.folder / "out").read_text()

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    @property
    def records(self) -> list[dict[str, Any]]:
        path = self.folder / "records"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.records if one["kind"] == kind]

    def call(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Answer:
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=15)
        with contextlib.closing(connection):
            connection.request(method, path, body=body or None, headers=dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, response.getheaders(), response.read())

    def stop(self) -> tuple[int, float]:
        """Stops the host; returns the exit code and the seconds."""
        began = time.monotonic()
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
        return self.child.wait(10), time.monotonic() - began


type StartHost = Callable[..., RunningHost]


def until[T](read: Callable[[], T | None], seconds: float = 10.0) -> T:
    """Returns the first true value of `read`, or raises AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := read():
            return value
        time.sleep(0.03)
    raise AssertionError(f"it didn't happen within {seconds} s")
