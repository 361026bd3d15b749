"""Starts the services of benchmarks: storage in memory, an emulator that can be filled, and programs that measure."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.azurite import StorageAddresses, azurite_program
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.dev.system.checkout import HERE
from local.dev.system.children import Children


def start_storage(children: Children, logs: Path) -> str:
    """Starts Azurite in memory and returns its connection string. Raises Failure."""
    program = azurite_program(HERE, log=logs / "azurite.log", environment=os.environ)
    return StorageAddresses.announced(children.start(program)).connection_string


@contextmanager
def running_storage() -> Iterator[str]:
    """Runs Azurite in memory inside the block, and yields its connection string."""
    with tempfile.TemporaryDirectory() as logs, Children() as children:
        yield start_storage(children, Path(logs))


@contextmanager
def running_emulator(*arguments: str) -> Iterator[tuple[str, str]]:
    """Runs an emulator that can be filled inside the block, and yields its address and that of its controls."""
    command = (sys.executable, "-m", "bench.emulated.filled_emulator", *arguments)
    with subprocess.Popen(command, cwd=HERE.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as emulator:
        address, controls = (emulator.stdout.readline() if emulator.stdout else "").split()
        try:
            yield address, controls
        finally:
            emulator.terminate()


@contextmanager
def running_accounts(number: int) -> Iterator[dict[str, str]]:
    """Runs Azurite in memory and a stepped emulator with accounts inside the block, and yields their addresses."""
    accounts = [part for n in range(number) for part in ("--account", f"account{n}={DEVELOPMENT_KEY}")]
    command = (sys.executable, "-m", "local.batch_emulator", "--stepped", "--port", "0", *accounts)
    with (
        running_storage() as storage,
        subprocess.Popen(command, cwd=HERE.root, stdout=subprocess.PIPE, text=True) as emulator,
    ):
        try:
            url = (emulator.stdout.readline() if emulator.stdout else "").split()[-1]
            yield {"emulator": url, "storage": storage}
        finally:
            emulator.terminate()


def measured_by(module: str, *arguments: str) -> dict[str, Any]:
    """Returns the JSON that a module of `bench.measured` prints. Raises CalledProcessError if it fails."""
    command = (sys.executable, "-m", f"bench.measured.{module}", *arguments)
    done = subprocess.run(command, cwd=HERE.root, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
