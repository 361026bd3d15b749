"""The programs of the local stack: their command lines and environments.

It imports neither the Batch emulator, the functions host nor the workload.
"""

import base64
import os
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local.dev.system.checkout import Checkout
from local.dev.system.children import Program
from local.dev.system.console import Failure

LOOPBACK = "127.0.0.1"
LISTENING = r"(?m)^listening on (?P<address>http://\S+)"
DEVELOPMENT_ACCOUNT = "demo"
RESOURCE_ID = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/local/providers/Microsoft.Batch"
    "/batchAccounts/{}"
)
OWN_SETTINGS = (
    "BATCH_ACCOUNTS",
    "BATCH_ACCOUNT_KEYS",
    "BATCH_ACCOUNT_IDS",
    "READ_QUOTAS",
    "FILE_READERS",
    "ARM_URL",
    "AzureWebJobsStorage",
    "AzureWebJobsStorage__accountName",
    "AzureWebJobsStorage__tableServiceUri",
    "TABLE_PREFIX",
    "TELEMETRY_STORAGE",
    "TELEMETRY_STORAGE__blobServiceUri",
    "RESOURCE_LOG_CONTAINER",
    "TELEMETRY_CONTAINER",
    "PRICE_CURRENCY",
    "PRICE_FILE",
    "PRICE_REGIONS",
    "PRICE_SOURCE",
    "RETAIL_PRICES_URL",
    "CLOCK_URL",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `up`.

    With `accounts`, real accounts are watched and nothing is emulated. `kept_in` keeps the app's storage and the
    emulated account between runs; work that was due in between happens at the start.
    """

    port: int = 7071
    kept_in: Path | None = None
    scenario: str = "demo"
    speed: float = 1.0
    seed: int = 1
    accounts: tuple[str, ...] = ()


def fresh_key() -> str:
    """Returns a shared key in Batch's format: 64 bytes in base64."""
    return base64.b64encode(secrets.token_bytes(64)).decode()


@dataclass(frozen=True, slots=True)
class EmulatedAccount:
    """The account that the emulator serves in this run, under a key created for this run."""

    name: str = DEVELOPMENT_ACCOUNT
    key: str = field(default_factory=fresh_key)


def base_environment() -> dict[str, str]:
    """Returns this environment without app settings of the user's shell: only the settings of `up` count."""
    kept = {name: value for name, value in os.environ.items() if name not in OWN_SETTINGS}
    return {**kept, "PYTHONUNBUFFERED": "1"}


def require_free(port: int) -> None:
    """Raises Failure if something already listens on the port. Port 0 means any free one."""
    with socket.socket() as probe:
        if os.name != "nt":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise Failure(
                f"Port {port} cannot be used ({error.strerror}); choose another with --port, or --port 0 for any."
            ) from error


def emulator_program(
    checkout: Checkout, options: Options, account: EmulatedAccount, storage: str | None = None
) -> Program:
    """Returns the emulator's program; `storage` is the connection string for the resource log and node telemetry."""
    arguments = [
        *("--port", "0", "--account", f"{account.name}={account.key}"),
        *("--seed", str(options.seed), "--speed", f"{options.speed:g}"),
    ]
    if storage:
        arguments += ["--logs", storage, "--telemetry", storage]
    if options.kept_in:
        arguments += ["--data", str(options.kept_in / "emulator")]
    return _module(checkout, "emulator", "local.batch_emulator", arguments, base_environment())


def workload_program(checkout: Checkout, options: Options, account: EmulatedAccount, emulator: str) -> Program:
    arguments = [
        *("--scenario", options.scenario, "--emulator", emulator),
        *("--account", account.name, "--key", account.key),
        *("--seed", str(options.seed), "--speed", f"{options.speed:g}"),
    ]
    return _module(checkout, "workload", "local.workload", arguments, base_environment(), announces=(), may_finish=True)


def machine_program(
    checkout: Checkout, options: Options, account: EmulatedAccount, emulator: str, storage: str
) -> Program:
    """Returns the program that plays the pool `this-machine` with this machine, whose agent writes to `storage`."""
    folder = (options.kept_in or checkout.state) / "machine"
    arguments = ["--emulator", emulator, "--account", account.name, "--key", account.key]
    arguments += ["--storage", storage, "--folder", str(folder)]
    return _module(checkout, "machine", "local.machine_node", arguments, base_environment(), announces=())


def host_program(checkout: Checkout, options: Options, settings: Mapping[str, str]) -> Program:
    arguments = [str(checkout.root), "--address", LOOPBACK, "--port", str(options.port)]
    return _module(checkout, "host", "local.functions_host", arguments, {**base_environment(), **settings})


def app_settings(
    options: Options, storage: str, account: EmulatedAccount | None, emulator: str | None
) -> dict[str, str]:
    """Returns the app settings of the host. Real accounts are polled at the product's own, slower rates."""
    always = {"AzureWebJobsStorage": storage, "FUNCTIONS_WORKER_RUNTIME": "python"}
    if account is None or emulator is None:
        return {**always, "BATCH_ACCOUNTS": ",".join(options.accounts), "TICK_SCHEDULE": "*/10 * * * * *"}
    return {
        **always,
        "TELEMETRY_STORAGE": storage,
        "BATCH_ACCOUNTS": f"{account.name}={emulator}",
        "BATCH_ACCOUNT_KEYS": f"{account.name}={account.key}",
        "BATCH_ACCOUNT_IDS": RESOURCE_ID.format(account.name),
        "ARM_URL": emulator,
        "TICK_SCHEDULE": "*/2 * * * * *",
        "POLL_SECONDS": "2",
        "MAX_BATCH_CALLS_PER_MINUTE": "100000",
        "RETAIL_PRICES_URL": f"{emulator}/api/retail/prices",
        "PRICE_REGIONS": f"{account.name}=westeurope",
        "HOUSEKEEPING_SCHEDULE": "15 * * * * *",  # it reads the prices of new VM sizes
        "POLL_OVERLAP_SECONDS": "2",  # the clocks of the emulator's nodes are at most a second off
    }


def _module(
    checkout: Checkout,
    name: str,
    module: str,
    arguments: list[str],
    environment: Mapping[str, str],
    *,
    announces: tuple[str, ...] = (LISTENING,),
    may_finish: bool = False,
) -> Program:
    return Program(
        name=name,
        command=(str(checkout.python), "-m", module, *arguments),
        log=checkout.logs / f"{name}.log",
        cwd=checkout.root,
        environment=environment,
        announces=announces,
        may_finish=may_finish,
    )
