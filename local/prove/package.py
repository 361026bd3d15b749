"""Proves that what `dev.py build` makes is all that Azure needs, and no more.

The zip is unpacked into an empty folder beside a virtual environment made from its requirements.txt alone. There
Microsoft's worker library loads it with exactly the settings that Bicep sets, and it answers as it should behind App
Service authentication. Python compiles none of its files meanwhile: their bytecode is in the package.
"""

import argparse
import base64
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from local.dev.build import DEPLOYED, build, bytecode_name
from local.dev.checkout import HERE
from local.dev.console import say, step
from tests.infra.scenarios import Infrastructure

MEASURED_PATHS = ("function_app.py", "functions", "shared", "requirements.txt", "host.json")
MOST_BYTES = 15 * 1024 * 1024
HOST_ONLY = "azure-storage-queue"  # what the local host needs beyond the app's requirements
PLATFORM = {  # what the platform sets by itself
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
LOADED = """
import asyncio, json, os, pathlib, sys
from local.functions_host.in_process import InProcessApp

compiled = []

def heard(event, arguments):
    if event == "compile":
        compiled.append(str(arguments[1]))

async def main():
    sys.addaudithook(heard)
    async with InProcessApp(pathlib.Path.cwd(), os.environ) as app:
        answers = []
        for path, principal in json.loads(sys.argv[1]):
            headers = {"x-ms-client-principal": principal} if principal else {}
            answers.append(int((await app.request("GET", path, headers=headers)).status))
        own = [name for name in compiled if name.startswith(str(pathlib.Path.cwd()))]
        print(json.dumps({"functions": sorted(app.functions), "answers": answers, "compiled": own}))

asyncio.run(main())
"""


def main(arguments: Sequence[str]) -> int:
    argparse.ArgumentParser(prog="dev.py prove package", description=__doc__).parse_args(arguments)
    build(HERE)
    archive = HERE.root / "dist/batchscope.zip"
    faults = _faults_of(archive)
    with tempfile.TemporaryDirectory() as folder:
        app, python = _unpacked(archive, Path(folder))
        settings = {name: str(value) for name, value in Infrastructure(HERE.root).scenarios[0].settings.items()}
        found = _loaded(app, python, Path(folder), settings)
    say(f"{len(settings)} settings of Bicep; {len(found['functions'])} functions: {', '.join(found['functions'])}")
    for (path, principal), status in zip(WANTED, found["answers"], strict=True):
        wanted = WANTED[path, principal]
        say(f"  {path} {'as a reader' if principal else 'as a stranger'}: {status}")
        if status != wanted:
            faults.append(f"{path} answered {status}, not {wanted}")
    say(f"  Python compiled {len(found['compiled'])} of the package's files")
    faults += [f"{name} was compiled, though its bytecode is in the package" for name in found["compiled"]]
    for fault in faults:
        say(f"WRONG: {fault}.")
    say("As it should be." if not faults else f"{len(faults)} faults.")
    return 1 if faults else 0


def _faults_of(archive: Path) -> list[str]:
    """What is wrong with the contents of the package."""
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
    say(f"{len(names)} files, {archive.stat().st_size / 1024:.0f} KiB (bar {MOST_BYTES // 1024:,} KiB)")
    sources = [name for name in names if name.endswith(".py")]
    compiled = {bytecode_name(PurePath(name)).as_posix() for name in sources}
    strays = [name for name in names if not name.startswith(tuple(DEPLOYED)) and name not in compiled]
    faults = [f"{name} has no business in the package" for name in strays]
    faults += [f"{name} is missing" for name in sorted(compiled - set(names))]
    if archive.stat().st_size > MOST_BYTES:
        faults.append("the package is too large")
    return faults


def _unpacked(archive: Path, folder: Path) -> tuple[Path, Path]:
    """The app's folder, and the Python of an environment that has its requirements and nothing else."""
    app, environment = folder / "app", folder / "environment"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(app)
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    with step("installing the package's requirements.txt"):
        _uv("venv", "--python", sys.executable, str(environment))
        _uv("pip", "install", "--python", str(python), "-r", str(app / "requirements.txt"))
        locked = (HERE.root / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
        pin = next(line for line in locked if line.startswith(f"{HOST_ONLY}=="))
        _uv("pip", "install", "--python", str(python), "--no-deps", "--target", str(folder / "host"), pin)
    return app, python


def _uv(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "uv", "--quiet", *arguments], check=True)


def _loaded(app: Path, python: Path, folder: Path, settings: Mapping[str, str]) -> dict[str, list[Any]]:
    """The functions that the worker library finds, and how the app answers `WANTED`.

    Nothing else is in its environment; of this checkout only the local host is within its reach.
    """
    (folder / "host" / "local").symlink_to(HERE.root / "local")
    environment = {**PLATFORM, **settings, "PYTHONPATH": str(folder / "host"), "PATH": os.environ.get("PATH", "")}
    program = [str(python), "-c", LOADED, json.dumps(list(WANTED))]
    done = subprocess.run(program, cwd=app, env=environment, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        raise SystemExit(f"The package doesn't load:\n{done.stderr[-3000:]}")
    found: dict[str, list[Any]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
