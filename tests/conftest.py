"""Fixtures of all layers: a real Azurite in memory, and a guard against installers.

Tests and the programs that they start can't reach installers. Stand-ins come first on PATH, record their start and
fail; pip has no index and npm no network.
"""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from local.azurite import StorageAddresses, azurite_program
from local.dev.setup.prerequisites import undeclared_needs
from local.dev.system.checkout import HERE
from local.dev.system.children import Children
from tests.profiles import load_profile

load_profile()  # before test modules are imported, whose decorators read it

_INSTALLERS = ("apt", "apt-get", "brew", "dnf", "npm", "npx", "pip", "pip3", "pipx", "snap", "sudo", "uv", "yum")
_REFUSAL = """#!/bin/sh
echo "${0##*/} $*" >>"$(dirname "$0")/started"
echo "No test installs anything: ${0##*/} $*" >&2
exit 97
"""
_STARTED = pytest.StashKey[Path]()
_FIRST = "tests/workload/"
"""The tests that wait most, for scenarios in real time; last by name, they would leave the other workers idle."""


_TOGETHER = "tests/e2e/live/"
"""Tests that share one demo, which never rests: on several workers it would run several times."""


class FilesTogether(LoadFileScheduling):
    """Gives each worker whole files, and the files of one folder to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return _TOGETHER if nodeid.startswith(_TOGETHER) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FilesTogether | None:
    """Returns the scheduler of `--dist=loadfile`, None for pytest-xdist's own of the other kinds."""
    return FilesTogether(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_xdist_auto_num_workers() -> int:
    """Returns two workers more than there are cores, as some tests wait: for programs, timeouts, a browser."""
    return (os.process_cpu_count() or 1) + 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests that wait most first."""
    items.sort(key=lambda item: not item.nodeid.startswith(_FIRST))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Makes installers unreachable, in every worker of a session."""
    folder = Path(tempfile.mkdtemp(prefix="no-installers-"))
    for name in _INSTALLERS:
        (folder / name).write_text(_REFUSAL)
        (folder / name).chmod(0o755)
    os.environ |= {"PIP_NO_INDEX": "1", "NPM_CONFIG_OFFLINE": "true"}
    os.environ["PATH"] = os.pathsep.join((str(folder), os.environ.get("PATH", "")))
    session.config.stash[_STARTED] = folder / "started"
    session.config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    _store_bytecode()


def _store_bytecode() -> None:
    """Lets Python store bytecode even where the environment forbids it.

    Otherwise each worker compiles all test modules, and each program that a test starts compiles the app.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Keeps the garbage collector from walking all collected tests, again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fails a test, before its setup, whose fixtures need more than `dev.py test PATH` sets up for its file."""
    path = item.nodeid.partition("::")[0]
    needs = undeclared_needs(path, item.fixturenames) if isinstance(item, pytest.Function) else []
    if needs:
        pytest.fail(f"{path} needs {', '.join(needs)}: enter it in local/dev/setup/prerequisites.py", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Fails a test during which an installer was started."""
    started = item.config.stash[_STARTED]
    yield
    if started.exists():
        calls = started.read_text().splitlines()
        started.unlink()
        pytest.fail(f"No test installs anything, but this one started: {'; '.join(calls)}")


@pytest.fixture
def azurite_folder() -> Path:
    """Returns the folder of the installed Azurite, for tests that start their own."""
    return HERE.azurite_folder


@pytest.fixture
def dashboard() -> Path:
    """Returns the folder of the built dashboard, which may be missing."""
    return HERE.web / "dist"


@pytest.fixture(scope="session")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StorageAddresses]:
    """Yields real storage, shared by all tests of a session; each test uses its own table and queue names.

    Node collects garbage less often than by default, as short requests leave little that survives.
    """
    log = tmp_path_factory.mktemp("azurite") / "azurite.log"
    environment = {**os.environ, "NODE_OPTIONS": "--max-semi-space-size=64"}
    with Children() as children:
        yield StorageAddresses.announced(children.start(azurite_program(HERE, log=log, environment=environment)))
