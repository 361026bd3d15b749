"""Commands that hand over to a program with its exit code and terminal: `test`, `backup`, `bench` and more.

On POSIX the program replaces this process, so Ctrl-C, debuggers and signals work as if it had been called directly.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.dev.setup.install import prepare
from local.dev.setup.prerequisites import EVERYTHING, FAST_PATHS, NOTHING, SLOW_TESTS, Prerequisite, needs_of
from local.dev.setup.pytest_arguments import named_paths
from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure, say

FOLDERS = {"bench": "bench", "prove": "local/prove"}
ALONE = ("local.prove.gpu",)
"""Modules that need the standard library only, so that they run where nothing can be installed."""
FAST = "--fast"
NIGHTLY = "--nightly"
WEB = "web"
WEB_TESTS = "tests/web"
INFRA = ("app-registration", "deploy-check", "event-subscriptions", "publish", "smoke-test")
"""Scripts of `infra/` that users, hooks and pipelines start; they need the standard library only."""


def test(checkout: Checkout, arguments: Sequence[str]) -> int:
    """Runs pytest over the whole suite, or over the named paths, after setting up only their prerequisites.

    With `--fast` among the arguments it runs FAST_PATHS without SLOW_TESTS, with fewer examples of property tests; with
    `--nightly` also the searches, with random examples and more of them. WEB as the first of them stands for WEB_TESTS,
    the unit tests of the dashboard.
    """
    given = [argument for argument in arguments if argument not in {FAST, NIGHTLY}]
    if given[:1] == [WEB]:
        given[0] = WEB_TESTS
    paths = named_paths(checkout.root, given)
    found = {}
    if NIGHTLY in arguments:
        found["HYPOTHESIS_PROFILE"] = "nightly"
    if fast := FAST in arguments:
        if paths or NIGHTLY in arguments:
            others = _listed(paths or [NIGHTLY])
            raise Failure(f"{FAST} is a choice of tests of its own; leave out either it or {others}.")
        found["HYPOTHESIS_PROFILE"] = "fast"
    needs = NOTHING if fast else needs_of(paths) if paths else EVERYTHING
    prepare(checkout, node=bool(needs - {Prerequisite.BROWSER}), dashboard=Prerequisite.DASHBOARD in needs)
    conformance = checkout.root.parent / "shared/conformance"
    if conformance.is_dir():
        found["CONFORMANCE_DIR"] = str(conformance)
    chosen = (*FAST_PATHS, *(f"--deselect={name}" for name in SLOW_TESTS)) if fast else ()
    command = ("pytest", *spread(checkout.root, given), *chosen, *given)
    environment = {**found, **os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or each worker compiles pytest's plugins anew, in a second
    return _hand_over(checkout, command, environment)


def spread(root: Path, arguments: Sequence[str]) -> Sequence[str]:
    """Returns the distribution options: the whole suite on up to six processes, file by file; named tests in one.

    Files run in the order of collection, which tests/conftest.py sets, so that the few long tests don't run alone at
    the end.
    """
    named = named_paths(root, arguments)
    return () if named else ("--numprocesses=auto", "--maxprocesses=6", "--dist=loadfile", "--no-loadscope-reorder")


def emulator(checkout: Checkout, arguments: Sequence[str]) -> int:
    """Serves the Batch emulator alone, until Ctrl-C; the arguments are its own."""
    prepare(checkout, node=False)
    return _hand_over(checkout, ("local.batch_emulator", *arguments), {**os.environ, "PYTHONUNBUFFERED": "1"})


def backup(checkout: Checkout, command: str, arguments: Sequence[str]) -> int:
    """Runs `backup` or `restore`; the arguments are its own."""
    prepare(checkout, node=False)
    return _hand_over(checkout, ("local.backup", command, *arguments), os.environ)


def run_script(checkout: Checkout, kind: str, name: str | None, arguments: Sequence[str]) -> int:
    """Runs a module or a package of `bench` or `local/prove`, where `-` is `_`; lists all of them without a name."""
    names = script_names(checkout.root / FOLDERS[kind])
    if name is None:
        say(f"{kind}: {_listed(names)}")
        return 0
    if name not in names:
        raise Failure(f'There is no {kind} "{name}" (yet); there is: {_listed(names)}.')
    module = f"{FOLDERS[kind].replace('/', '.')}.{name.replace('-', '_')}"
    if module in ALONE:
        return _hand_over(checkout, (module, *arguments), os.environ, python=sys.executable)
    prepare(checkout)
    return _hand_over(checkout, (module, *arguments), os.environ)


def infra(checkout: Checkout, name: str | None, arguments: Sequence[str]) -> int:
    """Runs `infra/NAME.py` with this Python, installing nothing; lists the existing ones without a name."""
    if name is None:
        say(f"infra: {_listed(INFRA)}")
        return 0
    if name not in INFRA:
        raise Failure(f'There is no infra "{name}"; there is: {_listed(INFRA)}.')
    module = f"infra.{name.replace('-', '_')}"
    return _hand_over(checkout, (module, *arguments), os.environ, python=sys.executable)


def script_names(folder: Path) -> list[str]:
    """Returns the names of the modules in a folder, and of its packages that can be run."""
    modules = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    packages = [path.parent.name for path in folder.glob("*/__main__.py")]
    return sorted(name.replace("_", "-") for name in (*modules, *packages))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none so far"


def _hand_over(
    checkout: Checkout, module: Sequence[str], environment: Mapping[str, str], *, python: str | None = None
) -> int:
    os.chdir(checkout.root)
    command = [python or str(checkout.python), "-m", *module]
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(command[0], command, dict(environment))
    return subprocess.call(command, env=dict(environment))
