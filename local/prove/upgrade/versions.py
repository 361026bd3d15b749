"""Hosts of this version and of an earlier one, whose source is kept beside the tests, on the same tables."""

import http.client
import json
import tarfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.dev.running.stack import LISTENING, LOOPBACK, base_environment
from local.dev.system.checkout import HERE
from local.dev.system.children import Children, Program
from local.prove.stack.api import Stack

EARLIER = "3deeb2c56ba9b6e90caf38075bf38f72d7ac9464"
"""The commit of version 0.1.0."""
_PARTS = ("function_app.py", "host.json", "functions", "shared")
_NEVER = "0 0 0 1 1 *"
_TIMERS = ("TICK_SCHEDULE", "HOUSEKEEPING_SCHEDULE")
_SECONDS = 60


def earlier_source(folder: Path) -> Path:
    """Returns a folder with the app of version 0.1.0."""
    with tarfile.open(HERE.root / "tests/data/tables-0.1.0/source.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return _with_host(folder)


def present_source(folder: Path) -> Path:
    """Returns a folder with the app of this checkout."""
    folder.mkdir()
    for part in _PARTS:
        (folder / part).symlink_to(HERE.root / part)
    return _with_host(folder)


def _with_host(folder: Path) -> Path:
    """Adds the local host, as an app's modules are found in its host's folder."""
    (folder / "local").symlink_to(HERE.root / "local")
    (folder / "web/dist").mkdir(parents=True)
    (folder / "web/dist/index.html").write_text("<!doctype html>")
    return folder


@dataclass(slots=True)
class Hosts:
    """Starts hosts one after another, each with its own log in `logs`; they share `settings`, and so their tables."""

    children: Children
    settings: Mapping[str, str]
    logs: Path
    emulator: str
    account: str
    _started: list[str] = field(default_factory=list)

    def start(self, source: Path, *, polls: bool) -> Stack:
        """Replaces the running host by one of a version; without `polls` its timers never fire. Raises Failure."""
        self.stop()
        name = f"host-{len(self._started) + 1}-{source.name}"
        timers = {} if polls else dict.fromkeys(_TIMERS, _NEVER)
        program = Program(
            name=name,
            command=(
                *(str(HERE.python), "-m", "local.functions_host", str(source)),
                *("--address", LOOPBACK, "--port", "0"),
            ),
            log=self.logs / f"{name}.log",
            cwd=source,
            environment={**base_environment(), **self.settings, **timers},
            announces=(LISTENING,),
        )
        address = self.children.start(program)["address"].rstrip("/")
        self._started.append(name)
        return Stack(f"{address}/api", self.emulator, self.account)

    def stop(self) -> None:
        """Kills the running host, if any."""
        if self._started and self._started[-1] in self.children.pids:
            self.children.kill(self._started[-1])


def asked(api: str, path: str) -> Any:
    """Returns an answer as JSON; one other than 200 as its status, as answers are compared."""
    try:
        with urllib.request.urlopen(f"{api}{path}", timeout=_SECONDS) as answer:  # noqa: S310  # our own host
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"status": error.code, "error": error.read().decode(errors="replace")[:300]}
    except (OSError, http.client.HTTPException) as error:
        return {"status": 0, "error": str(error)}
