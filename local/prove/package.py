"""Proves that the package from `dev.py build` contains everything that Azure needs, and nothing else.

The zip is unpacked into an empty folder and started by a Python with only its standard library. Microsoft's worker
library, which is in the package, loads it with exactly the settings from Bicep, and it must answer as expected behind
App Service authentication. Then each of the app's modules is imported. Meanwhile connections to other machines are
refused and counted, started programs (such as a compiler) are counted, and Python must compile none of the package's
files, as their bytecode is included.
"""

import base64
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.dev.checking.figures import markdown
from local.dev.packaging.agent_file import AGENT_FILE
from local.dev.packaging.build import ARCHIVE, DEPLOYED, build, bytecode_name
from local.dev.packaging.wheels import SITE_PACKAGES
from local.dev.system.checkout import HERE
from local.dev.system.console import say, step
from local.prove.reporting.command import proof_parser
from local.prove.reporting.figures import short_headline
from local.prove.reporting.proofs_page import write_section
from tests.infra.rules.scenarios import Infrastructure

MEASURED_PATHS = ("function_app.py", "functions", "shared", "requirements.txt", "host.json")
MAX_BYTES = 40 * 1024 * 1024
HOST_ONLY = "azure/storage/queue"
"""The local host's requirement beyond the app's; taken from this checkout's environment."""
PLATFORM = {  # set by the platform
    "FUNCTIONS_EXTENSION_VERSION": "~4",
    "FUNCTIONS_WORKER_RUNTIME": "python",
    "WEBSITE_AUTH_ENABLED": "True",
    "WEBSITE_SITE_NAME": "batchscope",
}
CLAIMS = [{"typ": "roles", "val": "Reader"}]
READER = base64.b64encode(json.dumps({"auth_typ": "aad", "claims": CLAIMS}).encode()).decode()
WANTED = {
    ("/", ""): 200,
    ("/api/accounts", ""): 401,
    ("/api/openapi.json", ""): 401,
    ("/api/openapi.json", READER): 200,
    ("/api/docs", READER): 200,
    ("/api/nowhere", READER): 404,
}
COUNTED = {
    "files of the package that Python compiled": "compiled",
    "connections to other machines": "connected",
    "programs started": "started",
}
LOADED = """
import asyncio, importlib, json, os, pathlib, pkgutil, sys
from local.functions_host.in_process import InProcessApp

compiled, connected, started = [], [], []
LOCAL = ("127.0.0.1", "::1", "localhost")

def heard(event, given):
    if event == "compile":
        compiled.append(str(given[1]))
    elif event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        where = given[1] if event in ("socket.connect", "socket.sendto") else given[0]
        where = where[0] if isinstance(where, tuple) else where
        if where not in LOCAL:
            connected.append(str(where))
            raise ConnectionRefusedError(where)
    elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
        started.append(str(given[0]))

async def main():
    sys.addaudithook(heard)
    async with InProcessApp(pathlib.Path.cwd(), os.environ) as app:
        answers = []
        for path, principal in json.loads(sys.argv[1]):
            headers = {"x-ms-client-principal": principal} if principal else {}
            answers.append(int((await app.request("GET", path, headers=headers)).status))
    modules = [name for top in ("functions", "shared")
               for _, name, _ in pkgutil.walk_packages(importlib.import_module(top).__path__, f"{top}.")]
    for name in modules:
        importlib.import_module(name)
    own = [name for name in compiled if name.startswith(str(pathlib.Path.cwd()))]
    print(json.dumps({"functions": sorted(app.functions), "answers": answers, "modules": modules, "compiled": own,
                      "connected": connected, "started": started}))

asyncio.run(main())
"""


def main(arguments: Sequence[str]) -> int:
    parser = proof_parser("package", __doc__)
    options, began = parser.parse_args(arguments), datetime.now(UTC)
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise SystemExit("The package is for Linux on x86_64: only such a machine can start it.")
    build(HERE)
    archive = HERE.root / ARCHIVE
    with tempfile.TemporaryDirectory() as folder:
        settings = {name: str(value) for name, value in Infrastructure(HERE.root).scenarios[0].settings.items()}
        with step("unpacking it beside nothing"):
            app, host = _unpacked(archive, Path(folder))
        with step("starting it"):
            found = _loaded(app, host, settings)
    faults = [*_faults_of(archive), *_faults_found(found)]
    figures = [*_contents(archive), ("settings of Bicep", str(len(settings))), *_figures(found)]
    for title, figure in figures:
        say(f"  {title}: {figure}")
    for fault in faults:
        say(f"WRONG: {fault}.")
    verdict = "As it should be." if not faults else f"{len(faults)} faults."
    say(verdict)
    if options.write:
        head = f"{short_headline('package', began)}:"
        write_section("package", f"{head}\n\n{markdown(('measure', 'value'), figures)}\n\n{verdict}")
    return 1 if faults else 0


def _contents(archive: Path) -> list[tuple[str, str]]:
    with zipfile.ZipFile(archive) as opened:
        files = len(opened.namelist())
    size = f"{archive.stat().st_size / 1024:,.0f} KiB (at most {MAX_BYTES // 1024:,} KiB)"
    return [("files of the package", f"{files:,}"), ("size of the package", size)]


def _figures(found: Mapping[str, list[Any]]) -> list[tuple[str, str]]:
    """How the app started and answered, each figure with its title."""
    answers = [
        (f"answer to {path} {'as a reader' if principal else 'as a stranger'}", str(status))
        for (path, principal), status in zip(WANTED, found["answers"], strict=True)
    ]
    return [
        ("functions", ", ".join(found["functions"])),
        *answers,
        ("modules of the app that were imported, with all that they import", str(len(found["modules"]))),
        *((title, str(len(found[key]))) for title, key in COUNTED.items()),
    ]


def _faults_found(found: Mapping[str, list[Any]]) -> list[str]:
    """Returns the faults in the app's start and answers."""
    faults = [
        f"{path} answered {status}, not {WANTED[path, principal]}"
        for (path, principal), status in zip(WANTED, found["answers"], strict=True)
        if status != WANTED[path, principal]
    ]
    faults += [f"{name} was compiled, though its bytecode is in the package" for name in found["compiled"]]
    faults += [f"the network was asked for {name}" for name in found["connected"]]
    return [*faults, *(f"{name} was started" for name in found["started"])]


def _faults_of(archive: Path) -> list[str]:
    """Returns the faults in the package's contents."""
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
    compiled = {bytecode_name(name) for name in names if name.endswith(".py")}
    parts = (*DEPLOYED, AGENT_FILE, SITE_PACKAGES)
    faults = [
        f"{name} has no business in the package"
        for name in names
        if not name.startswith(parts) and name not in compiled
    ]
    faults += [f"{name} is missing" for name in sorted(compiled - set(names))]
    if archive.stat().st_size > MAX_BYTES:
        faults.append("the package is too large")
    return faults


def _unpacked(archive: Path, folder: Path) -> tuple[Path, Path]:
    """Returns the app's folder, and one with the local host, the only part of this checkout that the app can reach."""
    app, host = folder / "app", folder / "host"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(app)
    shutil.copytree(HERE.packages / HOST_ONLY, host / HOST_ONLY)
    (host / "local").symlink_to(HERE.root / "local")
    return app, host


def _loaded(app: Path, host: Path, settings: Mapping[str, str]) -> dict[str, list[Any]]:
    """Returns the functions found by the worker library, the answers to `WANTED`, and the audited events."""
    path = os.pathsep.join((str(app / SITE_PACKAGES), str(host)))
    environment = {**PLATFORM, **settings, "PYTHONPATH": path, "PATH": os.environ.get("PATH", "")}
    bare = (sys.executable, "-S", "-s", "-B")
    program = [*bare, "-c", LOADED, json.dumps(list(WANTED))]
    done = subprocess.run(program, cwd=app, env=environment, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise SystemExit(f"The package doesn't load:\n{done.stderr[-3000:]}")
    found: dict[str, list[Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
