"""The app's dependencies for Azure's machines: wheels by their hashes, and the files in them.

Only wheels are used, so nothing is compiled, and the build machine needs neither Azure's system nor processor. They are
unpacked here instead of by pip, whose records contain the folder and Python of the machine.
"""

import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure
from local.dev.system.shell import run_logged
from local.dev.system.stamps import Step, fingerprint

SITE_PACKAGES = ".python_packages/lib/site-packages"
"""The folder where Azure Functions looks for the dependencies of a Python app."""
GLIBC = ("_2_28", "_2_17", "2014", "_2_12", "2010", "_2_5", "1")
"""Versions of manylinux that run on Flex Consumption's Debian, the newest first."""
TARGET = (
    *("--implementation", "cp", "--python-version", "3.13", "--abi", "cp313", "--abi", "abi3", "--abi", "none"),
    *(word for version in GLIBC for word in ("--platform", f"manylinux{version}_x86_64")),
)
DOWNLOAD = (
    *("-m", "pip", "download", "--no-input", "--disable-pip-version-check"),
    *("--require-hashes", "--no-deps", "--only-binary=:all:"),
)
INSTALLED_FOLDERS = ("purelib", "platlib")


def download(checkout: Checkout) -> list[Path]:
    """Returns every wheel of requirements.txt for the target, sorted; downloads them only if that file changed."""
    lock, folder = checkout.root / "requirements.txt", checkout.state / "wheels"
    planned = Step(
        title="downloading the dependencies for Linux x86_64",
        fingerprint=fingerprint(checkout.root, [lock], *TARGET),
        stamp=folder / ".stamp",
        product=folder,
        run=lambda: _download(checkout, lock, folder),
    )
    if not planned.is_done():
        planned.do()
    return sorted(folder.glob("*.whl"))


def _download(checkout: Checkout, lock: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    command = (str(checkout.python), *DOWNLOAD, *TARGET, "--dest", str(folder), "-r", str(lock))
    run_logged(command, log=checkout.logs / "build-wheels.log", cwd=checkout.root)


def normalized_name(name: str) -> str:
    """Returns a package's name as package indexes compare it: lower case, with single hyphens (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def files_of(wheels: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Yields name under `SITE_PACKAGES` and content of every file, sorted by name, without scripts and headers.

    Raises Failure if two wheels hold different files of one name.
    """
    found: dict[str, tuple[bytes, str]] = {}
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                name = None if entry.is_dir() else _installed_name(entry.filename)
                if name is None:
                    continue
                content = archive.read(entry)
                if found.setdefault(name, (content, wheel.name))[0] != content:
                    raise Failure(f"{wheel.name} and {found[name][1]} hold different files named {name}.")
    for name in sorted(found):
        yield name, found[name][0]


def _installed_name(name: str) -> str | None:
    """Returns the installed path of a wheel's file; None for files that an app in a zip doesn't use."""
    if name.endswith((".pyc", "/RECORD")):
        return None
    folder, _, rest = name.partition("/")
    if not folder.endswith(".data"):
        return name
    kind, _, inner = rest.partition("/")
    return inner if kind in INSTALLED_FOLDERS else None
