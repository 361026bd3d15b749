"""Setup of a checkout: `.venv`, pinned packages, Azurite, the built dashboard. Repeated only if inputs change.

pip installs, not a faster tool, because pip honours any index or proxy that the user has configured for it; 20 s
against 5 s, once.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure, say
from local.dev.system.locks import alone
from local.dev.system.shell import run_logged, run_shown
from local.dev.system.stamps import Step, fingerprint

PYTHON = "3.13"
NPM_QUIET = ("--ignore-scripts", "--no-audit", "--no-fund")
NPM_INSTALL = ("ci", *NPM_QUIET)
NOT_SOURCES = frozenset({"node_modules", "dist", "tests"})


def prepare(checkout: Checkout, *, node: bool = True, dashboard: bool = True) -> None:
    """Runs every pending step of setup.

    `node=False` leaves out products of Node, `dashboard=False` only the dashboard.
    """
    with alone(checkout.state / "setup.lock", busy="Waiting for another dev.py that is setting up.", wait=True):
        announced = False
        for planned in plan(checkout, node=node, dashboard=dashboard):
            if planned.is_done():
                continue
            if not announced:
                say("Setting up this checkout; what has not changed is not done again.")
                announced = True
            planned.do()


def plan(checkout: Checkout, *, node: bool, dashboard: bool = True) -> Iterator[Step]:
    """Yields the steps in order, lazily, as an earlier step may create a later step's inputs."""
    yield _environment(checkout)
    yield _packages(checkout)
    if node:
        yield _azurite(checkout)
        if dashboard and (checkout.web / "package.json").exists():
            yield _web_packages(checkout)
            yield _web_build(checkout)


def run_npm(checkout: Checkout, folder: Path, arguments: Sequence[str], *, log: str) -> None:
    """Runs npm with the Node of the wheel, which comes first on the PATH of programs that npm starts."""
    path = os.pathsep.join((str(checkout.node.parent), os.environ.get("PATH", "")))
    run_logged(
        (str(checkout.node), str(checkout.npm_program), *arguments),
        log=checkout.logs / f"{log}.log",
        cwd=folder,
        environment={"PATH": path},
    )


def _environment(checkout: Checkout) -> Step:
    return Step(
        title=f"creating .venv with Python {sys.version.split()[0]}",
        fingerprint=PYTHON,
        stamp=checkout.venv / ".stamp-environment",
        product=checkout.python,
        run=lambda: _create_environment(checkout),
    )


def _create_environment(checkout: Checkout) -> None:
    if _works(checkout):
        return
    command = (sys.executable, "-m", "venv", "--clear", str(checkout.venv))
    try:
        run_logged(command, log=checkout.logs / "setup-venv.log", cwd=checkout.root)
    except Failure as failure:
        advice = f"On Debian and Ubuntu the package python{PYTHON}-venv is needed as well."
        raise Failure(f"The virtual environment .venv could not be made. {advice} {failure}") from failure


def _works(checkout: Checkout) -> bool:
    """Returns whether `.venv` is a complete environment of the required version, created by any tool."""
    if not checkout.python.exists():
        return False
    question = "import sys, pip; print('%d.%d' % sys.version_info[:2])"
    answer = run_shown((str(checkout.python), "-c", question), cwd=checkout.root)
    return answer.exit_code == 0 and answer.output.strip() == PYTHON


def _packages(checkout: Checkout) -> Step:
    lock = checkout.root / "requirements-dev.txt"
    pins = sum("==" in line for line in lock.read_text(encoding="utf-8").splitlines())
    command = (
        str(checkout.python),
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--require-hashes",
        "-r",
        str(lock),
    )
    return Step(
        title=f"installing {pins} pinned packages (about half a minute)",
        fingerprint=fingerprint(checkout.root, [lock]),
        stamp=checkout.venv / ".stamp-packages",
        product=checkout.packages,
        run=lambda: run_logged(command, log=checkout.logs / "setup-packages.log", cwd=checkout.root),
    )


def _azurite(checkout: Checkout) -> Step:
    folder = checkout.azurite_folder
    inputs = [folder / "package.json", folder / "package-lock.json", *(folder / "stub").iterdir()]
    return Step(
        title="installing Azurite, the storage emulator",
        fingerprint=fingerprint(checkout.root, inputs),
        stamp=folder / "node_modules/.stamp",
        product=folder / "node_modules/azurite",
        run=lambda: run_npm(checkout, folder, NPM_INSTALL, log="setup-azurite"),
    )


def _web_packages(checkout: Checkout) -> Step:
    web = checkout.web
    return Step(
        title="installing the dashboard's packages",
        fingerprint=fingerprint(checkout.root, [web / "package.json", web / "package-lock.json"]),
        stamp=web / "node_modules/.stamp-packages",
        product=web / "node_modules",
        run=lambda: run_npm(checkout, web, NPM_INSTALL, log="setup-web"),
    )


def _web_build(checkout: Checkout) -> Step:
    web = checkout.web
    return Step(
        title="building the dashboard",
        fingerprint=fingerprint(checkout.root, _web_sources(web)),
        stamp=web / "node_modules/.stamp-build",
        product=web / "dist/index.html",
        run=lambda: run_npm(checkout, web, ("run", "build"), log="setup-web-build"),
    )


def _web_sources(web: Path) -> list[Path]:
    tops = [path for path in web.iterdir() if path.name not in NOT_SOURCES]
    files = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    return [path for path in files if path.is_file()]
