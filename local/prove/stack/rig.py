"""The proof's own stack: Azurite, one Batch emulator, and hosts that share one storage.

It runs beside any other stack, with free ports, its own tables and its own logs. Every host process has its own log, so
that the output of killed ones is kept.
"""

import http.client
import os
import random
import secrets
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from local.azurite import StorageAddresses
from local.dev.running.stack import EmulatedAccount, Options, app_settings, host_program
from local.dev.system.checkout import Checkout
from local.dev.system.children import Children, Program
from local.prove.stack.api import Stack
from local.prove.stack.services import start_emulator, start_storage

_HOST_ID = "AzureFunctionsWebHost__hostid"
UNANSWERED = (OSError, http.client.HTTPException, ValueError)  # errors of requests to a killed host


@dataclass(slots=True)
class Seat:
    """A place for a host. `stack` is None while no host runs; `polls` counts its running polls."""

    name: str
    stack: Stack | None = None
    lives: int = 0
    polls: int = 0


@dataclass(slots=True)
class Rig:
    """The stack. `emulator` serves its controls only; seats have the API.

    `kills` counts `all` kills, those `amid` a poll, and `frozen` hosts. Hosts share timers and queues, so that one host
    runs each timer, unless they are `apart`: then every host process has its own, and all do the same work.
    """

    children: Children
    account: EmulatedAccount
    emulator: str
    program: Program
    seats: tuple[Seat, ...]
    storage: StorageAddresses
    apart: bool = False
    kills: Counter[str] = field(default_factory=Counter)
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def controls(self) -> Stack:
        return Stack("", self.emulator, self.account.name)

    def alive(self, chance: random.Random) -> Stack | None:
        """Returns a host that is believed to run."""
        stacks = [seat.stack for seat in self.seats if seat.stack]
        return chance.choice(stacks) if stacks else None

    def kill(self, seat: Seat) -> None:
        """Kills a host and its child processes by `kill -9`."""
        with self._turn:
            seat.stack = None
            self.kills.update(all=1, amid=int(seat.polls > 0))
            self.children.kill(seat.name)

    def freeze(self, seat: Seat, seconds: float) -> None:
        """Suspends the host at any point and resumes it, like a suspended machine.

        Does nothing if the system doesn't support it.
        """
        group = self.children.pids.get(seat.name)
        if group is None or sys.platform == "win32":
            return
        self.kills.update(frozen=1)
        os.killpg(group, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            os.killpg(group, signal.SIGCONT)

    def start(self, seat: Seat) -> None:
        """Starts a new host process on a free port. Raises Failure if it doesn't start."""
        seat.lives += 1
        log = self.program.log.with_name(f"{seat.name}.{seat.lives:03}.log")
        environment = dict(self.program.environment)
        if self.apart:
            environment[_HOST_ID] += f"-{seat.name}-{seat.lives}"
        program = replace(self.program, name=seat.name, log=log, environment=environment)
        address = self.children.start(program)["address"].rstrip("/")
        seat.stack = Stack(f"{address}/api", self.emulator, self.account.name)


@contextmanager
def running_rig(
    checkout: Checkout,
    *,
    hosts: int,
    seed: int,
    speed: float,
    name: str = "exact",
    apart: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
    with_logs: bool = False,
) -> Iterator[Rig]:
    """Starts everything, with logs in a folder of that name, and stops it in any case. Raises Failure.

    With `with_logs` the emulator writes resource logs and node telemetry to the storage.
    """
    logs = checkout.logs / name
    shutil.rmtree(logs, ignore_errors=True)
    options, account = Options(port=0, scenario="none", speed=speed, seed=seed), EmulatedAccount()
    with Children() as children:
        storage = start_storage(children, logs)
        written_to = storage.connection_string if with_logs else None
        emulator = start_emulator(children, logs, account, options, storage=written_to)
        prefix = f"x{secrets.token_hex(6)}"
        own = {"TABLE_PREFIX": prefix, _HOST_ID: prefix, **settings}
        together = app_settings(options, storage.connection_string, account, emulator) | own
        host = replace(host_program(checkout, options, together), log=logs / "host.log")
        seats = tuple(Seat(f"host-{number + 1}") for number in range(hosts))
        rig = Rig(children, account, emulator, host, seats, storage, apart)
        for seat in seats:
            rig.start(seat)
        yield rig
