"""The stack that the proof starts for itself: Azurite, one Batch emulator, and hosts that share one storage.

It is beside any that a person runs: free ports, its own tables, its own logs. Every life of a host has a log of its
own, so that what a killed one had to say isn't lost.
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

from local.azurite import StorageAddresses, azurite_program
from local.dev.running.stack import Emulated, Options, app_settings, base_environment, emulator_program, host_program
from local.dev.system.checkout import Checkout
from local.dev.system.children import Children, Program
from local.prove.counts import Stack

_HOST_ID = "AzureFunctionsWebHost__hostid"
UNANSWERED = (OSError, http.client.HTTPException, ValueError)  # what a host that is killed, or an odd answer, ends in


@dataclass(slots=True)
class Seat:
    """A place for a host. `stack` is None while there is none; `polls` are those under way there now."""

    name: str
    stack: Stack | None = None
    lives: int = 0
    polls: int = 0


@dataclass(slots=True)
class Rig:
    """`emulator` is good for its controls only; ask a seat for the API.

    `kills` counts `all`, those `amid` a poll, and the hosts `frozen`. Hosts share timers and queues, of which each run
    is one host's, unless they are `apart`: then every life of a host has its own, and all do the same at once.
    """

    children: Children
    account: Emulated
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
        """A host that runs, as far as is known."""
        stacks = [seat.stack for seat in self.seats if seat.stack]
        return chance.choice(stacks) if stacks else None

    def kill(self, seat: Seat) -> None:
        """By `kill -9`, with all that the host started."""
        with self._turn:
            seat.stack = None
            self.kills.update(all=1, amid=int(seat.polls > 0))
            self.children.kill(seat.name)

    def freeze(self, seat: Seat, seconds: float) -> None:
        """Stops the host in the midst of whatever it does and lets it go on, as a machine does that was suspended.

        Where the system can't do that nothing happens.
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
        """A new life on a port of its own. Raises Failure where it doesn't come up."""
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
    """Everything up, logs in a folder of that name; everything ended afterwards, whatever happens. Raises Failure.

    `with_logs` has the emulator write resource logs and the telemetry of its nodes to the storage.
    """
    logs = checkout.logs / name
    shutil.rmtree(logs, ignore_errors=True)
    options, account = Options(port=0, scenario="none", speed=speed, seed=seed), Emulated()
    with Children() as children:
        azurite = azurite_program(checkout, log=logs / "azurite.log", environment=base_environment())
        storage = StorageAddresses.announced(children.start(azurite))
        written_to = storage.connection_string if with_logs else None
        program = replace(emulator_program(checkout, options, account, written_to), log=logs / "emulator.log")
        emulator = children.start(program)["address"].rstrip("/")
        prefix = f"x{secrets.token_hex(6)}"
        own = {"TABLE_PREFIX": prefix, _HOST_ID: prefix, **settings}
        together = app_settings(options, storage.connection_string, account, emulator) | own
        host = replace(host_program(checkout, options, together), log=logs / "host.log")
        seats = tuple(Seat(f"host-{number + 1}") for number in range(hosts))
        rig = Rig(children, account, emulator, host, seats, storage, apart)
        for seat in seats:
            rig.start(seat)
        yield rig
