"""Storage, an emulator in stepped time, and two apps that watch it: one reads Batch's event log, the other doesn't."""

import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from local.dev.running.stack import (
    LISTENING,
    EmulatedAccount,
    Options,
    app_settings,
    base_environment,
    emulator_program,
)
from local.dev.system.checkout import HERE
from local.dev.system.children import Children, Program
from local.prove.stack.api import call, call_raw
from local.prove.stack.services import start_storage

POLL_INTERVAL = 60  # seconds
NAMES = ("with the log", "without it")
_LIVE = ("TICK_SCHEDULE", "POLL_OVERLAP_SECONDS", "HOUSEKEEPING_SCHEDULE")  # settings for real, faster time
_PATIENCE = 600.0  # seconds that an app may take to start, as the machine may be busy with other things
_LOGS = HERE.logs / "prove-cost"


@dataclass(slots=True)
class Watcher:
    """An app; `address` changes with each start."""

    name: str
    children: Children
    program: Program
    address: str = ""
    lives: int = 0

    def start(self) -> None:
        """Starts a new process. Raises Failure."""
        self.lives += 1
        log = self.program.log.with_name(f"{self.program.name}.{self.lives:03}.log")
        self.address = self.children.start(replace(self.program, log=log))["address"].rstrip("/")

    def kill(self) -> None:
        """Ends the process by `kill -9`."""
        self.children.kill(self.program.name)

    def fire(self, timer: str) -> Any:
        """Runs a timer function. Raises OSError and the like where the process dies meanwhile."""
        return call("POST", f"{self.address}/timers/{timer}")

    def get(self, path: str) -> Any:
        return call("GET", f"{self.address}/api/{path}")

    def text(self, path: str) -> bytes:
        """Returns an answer that isn't JSON."""
        return call_raw("GET", f"{self.address}/api/{path}")


@dataclass(slots=True)
class Rig:
    """The running programs; `emulator` is its address, `storage` the connection string of storage."""

    account: EmulatedAccount
    emulator: str
    storage: str
    watchers: list[Watcher] = field(default_factory=list)

    def control(self, method: str, name: str, body: Any = None) -> Any:
        return call(method, f"{self.emulator}/_emulator/{name}", body)

    def advance(self, seconds: float) -> None:
        self.control("POST", "clock", {"advanceSeconds": seconds})

    def now(self) -> datetime:
        return datetime.fromisoformat(self.control("GET", "clock")["time"])


@contextmanager
def running_rig(
    start: datetime, *, seed: int, preemption: float, names: Sequence[str] = NAMES, logs: Path = _LOGS
) -> Iterator[Rig]:
    """Starts everything, with the emulator's time at `start`, and stops it in any case. Raises Failure.

    `names` are those of the apps, `logs` is the folder for logs.
    """
    shutil.rmtree(logs, ignore_errors=True)
    account, options = EmulatedAccount(), Options(scenario="none", seed=seed)
    with Children() as children:
        storage = start_storage(children, logs).connection_string
        program = emulator_program(HERE, options, account)
        stepped = ("--stepped", "--start", f"{start:%Y-%m-%dT%H:%M:%SZ}", "--logs", storage)
        command = (*program.command, *stepped, "--preemption", f"{preemption:g}")
        emulator = children.start(replace(program, command=command, log=logs / "emulator.log"))["address"].rstrip("/")
        rig = Rig(account, emulator, storage)
        shared = app_settings(options, storage, account, emulator)
        for name in names:
            own = {"TABLE_PREFIX": f"c{secrets.token_hex(6)}", "POLL_SECONDS": str(POLL_INTERVAL)}
            own |= {"CLOCK_URL": f"{emulator}/_emulator/clock", "MAX_BATCH_CALLS_PER_MINUTE": "1000000"}
            settings = {key: value for key, value in {**shared, **own}.items() if key not in _LIVE}
            if name != NAMES[0]:
                del settings["TELEMETRY_STORAGE"]
            rig.watchers.append(Watcher(name, children, _program(name, settings, logs)))
            rig.watchers[-1].start()
        yield rig


def _program(name: str, settings: dict[str, str], logs: Path) -> Program:
    return Program(
        name=f"app {name}",
        command=(str(HERE.python), "-m", "local.prove.cost.watcher"),
        log=logs / "app.log",
        cwd=HERE.root,
        environment={**base_environment(), **settings, "AZURE_FUNCTIONS_ENVIRONMENT": "Development"},
        announces=(LISTENING,),
        patience_seconds=_PATIENCE,
    )
