"""Runs the app on the storage of the proof, and lists the events that it reads from the agents' blobs."""

import secrets
import time
from dataclasses import replace
from pathlib import Path

from local.azurite import StorageAddresses
from local.dev.running.stack import EmulatedAccount, Options, app_settings, host_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.prove.agent.judging.event_feed import Event, listed_events
from local.prove.agent.nodes.node_starter import ACCOUNT
from local.prove.stack.api import Stack, call
from local.prove.stack.services import start_emulator

_PATIENCE = 180.0  # seconds for reading all blobs
_SWEEPS = 6.0  # seconds, in which further sweeps find nothing new


def read_feed(children: Children, logs: Path, storage: StorageAddresses, blobs: int) -> list[Event]:
    """Returns the listed events of nodes, after the app has read that many blobs to their ends.

    Raises Failure if it doesn't start, or TimeoutError.
    """
    account, options = EmulatedAccount(ACCOUNT), Options(port=0, scenario="none")
    emulator = start_emulator(children, logs, account, options)
    prefix = f"x{secrets.token_hex(6)}"
    own = {"TABLE_PREFIX": prefix, "AzureFunctionsWebHost__hostid": prefix}
    program = host_program(HERE, options, app_settings(options, storage.connection_string, account, emulator) | own)
    address = children.start(replace(program, log=logs / "host.log"))["address"].rstrip("/")
    stack, deadline = Stack(f"{address}/api", emulator, account.name), time.monotonic() + _PATIENCE
    while not _is_read(stack, blobs):
        if time.monotonic() > deadline:
            raise TimeoutError(f"The app hasn't read {blobs} blobs within {_PATIENCE:g} s.")
        time.sleep(1)
    time.sleep(_SWEEPS)
    return _listed(stack)


def _is_read(stack: Stack, blobs: int) -> bool:
    telemetry = stack.get(f"/accounts/{stack.account}/ingestion")["telemetry"]
    return telemetry is not None and telemetry["blobs"] >= blobs and not telemetry["behindBytes"]


def _listed(stack: Stack) -> list[Event]:
    found: list[Event] = []
    url = f"{stack.api}/accounts/{stack.account}/events?maxpagesize=1000"
    while url:
        page = call("GET", url)
        found += listed_events(page["value"])
        url = page.get("nextLink")
    return found
