"""Starts the services of a proof: storage, and an emulator of one or more accounts, each with its log in `logs`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from local.azurite import StorageAddresses, azurite_program
from local.dev.running.stack import EmulatedAccount, Options, base_environment, emulator_program
from local.dev.system.checkout import HERE
from local.dev.system.children import Children


def start_storage(
    children: Children, logs: Path, *, name: str = "azurite", location: Path | None = None, is_silent: bool = True
) -> StorageAddresses:
    """Starts Azurite, in memory or kept in `location`; its log has all requests unless it is silent. Raises Failure."""
    program = azurite_program(HERE, log=logs / f"{name}.log", environment=base_environment(), location=location)
    if not is_silent:
        program = replace(program, command=tuple(part for part in program.command if part != "--silent"))
    return StorageAddresses.announced(children.start(program))


def start_emulator(
    children: Children,
    logs: Path,
    account: EmulatedAccount,
    options: Options | None = None,
    *,
    storage: str | None = None,
    others: Mapping[str, str] | None = None,
) -> str:
    """Starts the Batch emulator and returns its address. Raises Failure.

    `storage` is the connection string for resource logs and telemetry, `others` has the keys of further accounts.
    """
    program = emulator_program(HERE, options or Options(), account, storage)
    further = [part for name, key in (others or {}).items() for part in ("--account", f"{name}={key}")]
    program = replace(program, command=(*program.command, *further), log=logs / "emulator.log")
    return children.start(program)["address"].rstrip("/")


def start_emulator_of(children: Children, logs: Path, keys: Mapping[str, str], options: Options | None = None) -> str:
    """Starts an emulator of several accounts, whose keys these are, and returns its address. Raises Failure."""
    (first, key), *others = keys.items()
    return start_emulator(children, logs, EmulatedAccount(first, key), options, others=dict(others))
