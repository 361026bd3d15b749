"""Proves that clients nobody here wrote run against the emulator as they are.

Those are azure-batch 14.2.0 in an environment of its own and the npm package @azure/batch 10.2.0, both led on a tour,
and the tests that azure-batch 15.1.0 ships in its source distribution, for its synchronous and asynchronous clients.
All of it is installed on demand under `.local/clients`; the emulator is one of its own, on a free port.
"""

import argparse
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from local.dev.checkout import HERE
from local.dev.children import Children
from local.dev.install import NPM_QUIET, run_npm
from local.dev.shell import run_logged
from local.dev.stack import Emulated, Options, emulator_program

_FOLDER = HERE.state / "clients"
_HERE = Path(__file__).parent
_PYTHON = "azure-batch==14.2.0"
_NODE = "@azure/batch@10.2.0"
_SOURCE = "azure-batch==15.1.0"
_SPEED = 20.0
_PATIENCE_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Client:
    """What is started, with the emulator's address, account and key behind it, and `last` behind those."""

    name: str
    command: tuple[str, ...]
    last: tuple[str, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py prove clients", description=__doc__)
    parser.add_argument("--only", choices=("python", "node", "published"), help="one of the three")
    options = parser.parse_args()
    makers = {"python": _old_python, "node": _node, "published": _published}
    clients = [make() for name, make in makers.items() if options.only in (None, name)]
    with Children() as children:
        account = Emulated()
        program = replace(emulator_program(HERE, Options(speed=_SPEED), account), log=HERE.logs / "prove-clients.log")
        address = children.start(program)["address"].rstrip("/")
        failed = [client.name for client in clients if not _runs(client, address, account)]
    print(f"\nfailed: {', '.join(failed)}" if failed else "\nall clients ran as they are")
    return 1 if failed else 0


def _runs(client: Client, address: str, account: Emulated) -> bool:
    print(f"\n{client.name}", flush=True)
    _reset(address)
    command = (*client.command, address, account.name, account.key, *client.last)
    return subprocess.run(command, check=False, timeout=_PATIENCE_SECONDS, cwd=HERE.root).returncode == 0


def _reset(address: str) -> None:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    connection.request("POST", "/_emulator/reset")
    connection.getresponse().read()
    connection.close()


def _old_python() -> Client:
    home = _FOLDER / "python"
    python = home / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (home / ".done").exists():
        _log((sys.executable, "-m", "venv", "--clear", str(home)))
        _log((str(python), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", _PYTHON))
        (home / ".done").touch()
    return Client(_PYTHON, (str(python), str(_HERE / "_tour_python.py")))


def _node() -> Client:
    home = _FOLDER / "node"
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "node_modules/@azure/batch").exists():
        (home / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        run_npm(HERE, home, ("install", *NPM_QUIET, _NODE), log="prove-clients-npm")
    return Client(_NODE, (str(HERE.node), str(_HERE / "_tour_node.mjs")), (str(home),))


def _published() -> Client:
    home = _FOLDER / "published"
    tests = home / "azure_batch-15.1.0/tests"
    if not tests.exists():
        home.mkdir(parents=True, exist_ok=True)
        command = (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "--dest", str(home))
        _log((*command, "--no-input", _SOURCE))
        with tarfile.open(home / "azure_batch-15.1.0.tar.gz") as archive:
            archive.extractall(home, filter="data")
    return Client(f"tests of {_SOURCE}", (sys.executable, "-m", "local.prove._published"), (str(tests),))


def _log(command: Sequence[str]) -> None:
    run_logged(command, log=HERE.logs / "prove-clients-install.log", cwd=HERE.root)


if __name__ == "__main__":
    sys.exit(main())
