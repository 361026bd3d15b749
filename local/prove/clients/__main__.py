"""Proves that unmodified third-party clients run against the emulator.

These are the Azure CLI, Airflow's AzureBatchOperator, azure-batch 4.1.3 to 14.2.0 and the npm packages @azure/batch and
azure-batch, each on a scripted tour. Added to these are the tests in the source distribution of azure-batch 15.1.0, for
its synchronous and asynchronous clients. No client is patched: each gets an address, an account and a key, by arguments
or environment variables. Each is installed on demand in its own environment under `.local/clients`; the emulator is
separate, on a free port.
"""

import argparse
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from local.dev.running.stack import EmulatedAccount, Options
from local.dev.setup.install import NPM_QUIET, run_npm
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from local.dev.system.shell import run_logged
from local.prove.stack.services import start_emulator

MEASURED_PATHS = ("local/batch_emulator",)
_FOLDER = HERE.state / "clients"
_HERE = Path(__file__).parent
_PYTHON = ("azure-batch==4.1.3", "azure-batch==6.0.1", "azure-batch==10.0.0", "azure-batch==14.2.0")
_NODE = ("azure-batch@9.0.0", "@azure/batch@10.2.0")
_AZ = "azure-cli==2.91.0"
_AIRFLOW = ("apache-airflow==3.3.2", "apache-airflow-providers-microsoft-azure==15.2.1")
_SOURCE = "azure-batch==15.1.0"
_SPEED = 20.0
_PATIENCE_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Client:
    """A client's command line: `command`, then the emulator's address, account and key, then `last`."""

    name: str
    command: tuple[str, ...]
    last: tuple[str, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py prove clients", description=__doc__)
    parser.add_argument("--only", choices=_MAKERS, help="one kind of them")
    options = parser.parse_args()
    clients = [client for name, make in _MAKERS.items() if options.only in (None, name) for client in make()]
    with Children() as children:
        account = EmulatedAccount()
        address = start_emulator(children, HERE.logs / "clients", account, Options(speed=_SPEED))
        failed = [client.name for client in clients if not _runs(client, address, account)]
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall clients ran as they are")
    return 1 if failed else 0


def _runs(client: Client, address: str, account: EmulatedAccount) -> bool:
    print(f"\n{client.name}", flush=True)
    _reset(address)
    command = (*client.command, address, account.name, account.key, *client.last)
    return subprocess.run(command, check=False, timeout=_PATIENCE_SECONDS, cwd=HERE.root).returncode == 0


def _reset(address: str) -> None:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("POST", "/_emulator/reset")
    connection.getresponse().read()
    connection.close()


def _python() -> Iterator[Client]:
    for package in _PYTHON:
        yield Client(package, (str(_environment(package)), "-W", "ignore", str(_HERE / "python_tour.py")))


def _node() -> Iterator[Client]:
    for package in _NODE:
        name, _, version = package.rpartition("@")
        home = _FOLDER / f"node-{version}"
        home.mkdir(parents=True, exist_ok=True)
        if not (home / "node_modules" / name).exists():
            (home / "package.json").write_text('{"private": true}\n', encoding="utf-8")
            run_npm(HERE, home, ("install", *NPM_QUIET, package), log="prove-clients-npm")
        yield Client(package, (str(HERE.node), "--no-deprecation", str(_HERE / "node_tour.mjs")), (str(home), name))


def _az() -> Iterator[Client]:
    program = _environment(_AZ).with_name("az.bat" if sys.platform == "win32" else "az")
    yield Client(_AZ, (sys.executable, str(_HERE / "az_tour.py")), (str(program),))


def _airflow() -> Iterator[Client]:
    yield Client(_AIRFLOW[-1], (str(_environment(*_AIRFLOW)), str(_HERE / "airflow_tour.py")))


def _environment(*packages: str) -> Path:
    """Returns the Python of an environment with these packages and their dependencies, created if missing."""
    home = _FOLDER / packages[-1].replace("==", "-")
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (home / ".done").exists():
        print(f"installing {' '.join(packages)}", flush=True)
        _log((sys.executable, "-m", "venv", "--clear", str(home)))
        _log((str(python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", *packages))
        (home / ".done").touch()
    return python


def _published() -> Iterator[Client]:
    home = _FOLDER / "published"
    tests = home / "azure_batch-15.1.0/tests"
    if not tests.exists():
        home.mkdir(parents=True, exist_ok=True)
        command = (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--dest", str(home))
        _log((*command, "--no-input", _SOURCE))
        with tarfile.open(home / "azure_batch-15.1.0.tar.gz") as archive:
            archive.extractall(home, filter="data")
    yield Client(f"tests of {_SOURCE}", (sys.executable, "-m", "local.prove.clients.published_tests"), (str(tests),))


def _log(command: Sequence[str]) -> None:
    run_logged(command, log=HERE.logs / "prove-clients-install.log", cwd=HERE.root)


_MAKERS: Mapping[str, Callable[[], Iterator[Client]]] = {
    "python": _python,
    "node": _node,
    "az": _az,
    "airflow": _airflow,
    "published": _published,
}


if __name__ == "__main__":
    sys.exit(main())
