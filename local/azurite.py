"""Azurite, Microsoft's storage emulator, as the local stack and the tests start it.

It knows the command line and the output of Azurite; it starts nothing itself. The account and its key are Azurite's
published development account, good for loopback addresses only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from local.dev.system.checkout import Checkout
from local.dev.system.children import Program
from local.dev.system.console import Failure

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
SERVICES = ("blob", "queue", "table")
READY = r"Azurite {title} service is successfully listening at (?P<{name}>http://\S+)"


@dataclass(frozen=True, slots=True)
class StorageAddresses:
    """Where a running Azurite listens: `http://127.0.0.1:PORT/devstoreaccount1` for each service."""

    blob: str
    queue: str
    table: str

    @classmethod
    def announced(cls, found: Mapping[str, str]) -> "StorageAddresses":
        return cls(**{name: f"{found[name].rstrip('/')}/{ACCOUNT}" for name in SERVICES})

    @property
    def connection_string(self) -> str:
        return (
            f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
            f"BlobEndpoint={self.blob};QueueEndpoint={self.queue};TableEndpoint={self.table};"
        )

    @property
    def blob_port(self) -> int:
        return _port(self.blob)

    @property
    def queue_port(self) -> int:
        return _port(self.queue)

    @property
    def table_port(self) -> int:
        return _port(self.table)


def azurite_program(
    checkout: Checkout, *, log: Path, environment: Mapping[str, str], location: Path | None = None
) -> Program:
    """Azurite on free ports, in memory or kept in `location`.

    `--skipApiVersionCheck` because current client libraries send versions newer than it knows.
    """
    script = checkout.azurite_folder / "node_modules/azurite/dist/src/azurite.js"
    if not script.exists():
        raise Failure("Azurite is not installed in local/node; `python3 dev.py test` or `up` installs it.")
    hosts = [part for name in SERVICES for part in (f"--{name}Host", "127.0.0.1", f"--{name}Port", "0")]
    place = ["--location", str(location)] if location else ["--inMemoryPersistence"]
    return Program(
        name="azurite",
        command=(
            str(checkout.node),
            str(script),
            "--silent",
            "--disableTelemetry",
            "--skipApiVersionCheck",
            *hosts,
            *place,
        ),
        log=log,
        cwd=location or checkout.azurite_folder,
        environment=environment,
        announces=tuple(READY.format(title=name.capitalize(), name=name) for name in SERVICES),
        patience_seconds=30.0,
        stops_last=True,
    )


def _port(address: str) -> int:
    port = urlsplit(address).port
    if port is None:
        raise ValueError(f"no port in {address}")
    return port
