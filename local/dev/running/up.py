"""`up`: starts the local stack, shows its addresses, and supervises it until the user stops it.

Only one `up` runs per checkout. However it ends, it ends all programs that it started, and no others.
"""

import http.client
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn
from urllib.parse import urlsplit

from local.azurite import StorageAddresses, azurite_program
from local.dev.packaging.agent_file import AGENT_FILE, write_agent
from local.dev.running.stack import (
    EmulatedAccount,
    Options,
    app_settings,
    base_environment,
    emulator_program,
    host_program,
    machine_program,
    require_free,
    workload_program,
)
from local.dev.setup.install import prepare
from local.dev.system.checkout import Checkout
from local.dev.system.children import Children
from local.dev.system.console import StopRequested, say, step
from local.dev.system.locks import alone

STOP_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
HEALTH_SECONDS = 60.0
WATCH_SECONDS = 0.2
MEASURED_SCENARIO = "demo"
ANSWERS = frozenset({200, 503})
SECOND = "Another `dev.py up` is running in this checkout; stop it first, or use its dashboard (.local/up.json)."


@dataclass(frozen=True, slots=True)
class Running:
    """The addresses of the stack; the emulator's part is None when real accounts are watched."""

    site: str
    storage: StorageAddresses
    emulator: str | None
    account: EmulatedAccount | None


def up(checkout: Checkout, options: Options) -> int:
    """Sets up, starts and supervises the stack. Returns 0 when the user ends it; raises Failure otherwise."""
    with alone(checkout.state / "up.lock", busy=SECOND):
        note = checkout.state / "up.json"
        note.unlink(missing_ok=True)
        require_free(options.port)
        prepare(checkout)
        is_stopping = _listen_for_stop()
        children = Children(is_stopping=is_stopping)
        children.delete_if_killed(note)
        try:
            with children:
                running = _start(children, checkout, options)
                _write_note(note, running, children.pids)
                _greet(checkout, running)
                _supervise(children)
        except StopRequested:
            say("Stopped.")
            return 0
        finally:
            note.unlink(missing_ok=True)


def _start(children: Children, checkout: Checkout, options: Options) -> Running:
    if options.kept_in:
        (options.kept_in / "azurite").mkdir(parents=True, exist_ok=True)
    with step("node agent (packing its file)"):
        write_agent(checkout.root, checkout.root / AGENT_FILE)
    say("Starting")
    with step("storage (Azurite)"):
        location = options.kept_in / "azurite" if options.kept_in else None
        log = checkout.logs / "azurite.log"
        program = azurite_program(checkout, log=log, environment=base_environment(), location=location)
        storage = StorageAddresses.announced(children.start(program))
    account = None if options.accounts else EmulatedAccount()
    emulator = _start_emulator(children, checkout, options, account, storage.connection_string)
    with step("functions host"):
        settings = app_settings(options, storage.connection_string, account, emulator)
        site = children.start(host_program(checkout, options, settings))["address"].rstrip("/")
        _wait_for_health(children, site)
    if account and emulator and options.scenario != "none":
        with step(f"workload ({options.scenario})"):
            children.start(workload_program(checkout, options, account, emulator))
    if account and emulator and options.scenario == MEASURED_SCENARIO and sys.platform == "linux":
        with step("node agent, on this machine"):
            children.start(machine_program(checkout, options, account, emulator, storage.connection_string))
    return Running(site, storage, emulator, account)


def _start_emulator(
    children: Children, checkout: Checkout, options: Options, account: EmulatedAccount | None, storage: str
) -> str | None:
    if account is None:
        return None
    with step("Batch emulator"):
        return children.start(emulator_program(checkout, options, account, storage))["address"].rstrip("/")


def _wait_for_health(children: Children, site: str) -> None:
    children.wait_for(
        lambda: _answers(site, "/api/health"),
        complaint=f"The functions host runs, but {site}/api/health does not answer; see .local/logs/host.log.",
        patience_seconds=HEALTH_SECONDS,
    )


def _answers(site: str, path: str) -> bool:
    connection = http.client.HTTPConnection(urlsplit(site).netloc, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status in ANSWERS
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _write_note(path: Path, running: Running, pids: dict[str, int]) -> None:
    """Writes `.local/up.json`, whose names external scripts use. Only its owner may read it: it holds keys."""
    account = running.account
    note = {
        "dashboard": f"{running.site}/",
        "api": f"{running.site}/api",
        "emulator": running.emulator,
        "blob": running.storage.blob,
        "queue": running.storage.queue,
        "table": running.storage.table,
        "storageConnectionString": running.storage.connection_string,
        "batchAccount": account.name if account else None,
        "batchKey": account.key if account else None,
        "pids": {name: pids.get(name) for name in ("host", "emulator", "azurite", "workload", "machine")},
    }
    fresh = path.with_name("up.json.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        json.dump(note, file, indent=2)
    fresh.replace(path)


def _greet(checkout: Checkout, running: Running) -> None:
    say()
    say(f"  Dashboard  {running.site}/")
    say(f"  API        {running.site}/api")
    if running.emulator:
        say(f"  Emulator   {running.emulator}")
    say(f"  Logs       {checkout.logs}")
    say()
    say("Ctrl-C stops all of it.")


def _supervise(children: Children) -> NoReturn:
    while True:
        children.check()
        time.sleep(WATCH_SECONDS)


def _listen_for_stop() -> Callable[[], bool]:
    """Makes a signal only set a flag from now on, so that no child is lost between its start and its listing."""
    asked = False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True

    for name in STOP_SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), ask)
    return lambda: asked
