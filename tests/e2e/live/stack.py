"""The local stack as `dev.py up` starts it, with ports, logs and tables of its own, beside any stack of a person."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from local.azurite import StorageAddresses
from local.dev.packaging.agent_file import AGENT_FILE, write_agent
from local.dev.running.stack import (
    EmulatedAccount,
    Options,
    app_settings,
    emulator_program,
    host_program,
    workload_program,
)
from local.dev.system.checkout import HERE
from local.dev.system.children import Children, Program


@dataclass(frozen=True, slots=True)
class RunningStack:
    """Addresses of the page, the API (ends in /api) and the emulator, and the watched account."""

    dashboard: str
    api: str
    emulator: str
    account: EmulatedAccount


@contextmanager
def running_stack(
    storage: StorageAddresses,
    logs: Path,
    *,
    scenario: str,
    speed: float,
    seed: int = 1,
    with_telemetry: bool = False,
    clock_url: str = "",
) -> Iterator[RunningStack]:
    """Runs a stack; `with_telemetry` is for one at a time, as all stacks on the storage read its logs and telemetry.

    The app takes its time from `clock_url`, if there is one.
    """
    write_agent(HERE.root, HERE.root / AGENT_FILE)
    options, account = Options(port=0, scenario=scenario, speed=speed, seed=seed), EmulatedAccount()

    def logged(program: Program) -> Program:
        return replace(program, log=logs / f"{program.name}.log")

    with Children() as children:
        log_storage = storage.connection_string if with_telemetry else None
        emulator = children.start(logged(emulator_program(HERE, options, account, log_storage)))["address"].rstrip("/")
        settings = app_settings(options, storage.connection_string, account, emulator)
        settings["CLOCK_URL"] = clock_url
        settings["TABLE_PREFIX"] = f"e{secrets.token_hex(6)}"
        settings["AzureFunctionsWebHost__hostid"] = settings["TABLE_PREFIX"]
        site = children.start(logged(host_program(HERE, options, settings)))["address"].rstrip("/")
        children.start(logged(workload_program(HERE, options, account, emulator)))
        yield RunningStack(f"{site}/", f"{site}/api", emulator, account)
