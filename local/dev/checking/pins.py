"""The pinned lock files: compiles them from the short `.in` files, and checks that they match these.

A lock's first line holds the hash of its inputs, so the check needs no network. Each package has the hashes of its
files, which pip and npm compare before they install anything. Locks name no index, host or address: users configure
their own package sources.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from local.dev.setup.install import NPM_QUIET, run_npm
from local.dev.system.checkout import Checkout
from local.dev.system.console import step
from local.dev.system.shell import run_logged

COMPILE = ("pip", "compile", "--quiet", "--universal", "--python-version", "3.13")
BARE = ("--generate-hashes", "--no-annotate", "--no-header", "--no-emit-index-url", "--no-emit-find-links")
PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*==[^\s=;]+( ; [^\\]+)?( --hash=sha256:[0-9a-f]{64})+$")
PYTHON_LOCKS = (("requirements.in",), ("requirements-dev.in", "requirements.txt"))
"""Each lock is named after its first input."""
NPM_LOCK = ("--package-lock-only", "--omit-lockfile-registry-resolved", *NPM_QUIET)
NODE_FOLDERS = ("local/node", "web")


def lock_all(checkout: Checkout, *, upgrade: bool) -> None:
    """Compiles every lock again; versions stay unless `upgrade`."""
    for inputs in PYTHON_LOCKS:
        _lock_python(checkout, inputs, upgrade=upgrade)
    for folder in NODE_FOLDERS:
        if (checkout.root / folder / "package.json").exists():
            with step(f"locking {folder}"):
                words = ("update" if upgrade else "install", *NPM_LOCK)
                run_npm(checkout, checkout.root / folder, words, log="lock-node")


def stale_locks(root: Path) -> Iterator[str]:
    """Yields a sentence for each fault of a lock file."""
    for inputs in PYTHON_LOCKS:
        yield from _python_faults(root, inputs)
    for folder in NODE_FOLDERS:
        if (root / folder / "package.json").exists():
            yield from _node_faults(root, folder)


def _lock_python(checkout: Checkout, inputs: tuple[str, ...], *, upgrade: bool) -> None:
    lock = checkout.root / _lock_name(inputs)
    uv = checkout.python.with_name("uv.exe" if checkout.python.suffix else "uv")
    wish = ("--upgrade",) if upgrade else ()
    with step(f"locking {lock.name}"):
        command = (str(uv), *COMPILE, *BARE, *wish, "--output-file", lock.name, inputs[0])
        run_logged(command, log=checkout.logs / "lock-python.log", cwd=checkout.root)
        lock.write_text(f"{_first_line(checkout.root, inputs)}\n{lock.read_text(encoding='utf-8')}", encoding="utf-8")


def _lock_name(inputs: tuple[str, ...]) -> str:
    return inputs[0].replace(".in", ".txt")


def _first_line(root: Path, inputs: tuple[str, ...]) -> str:
    content = b"\0".join((root / name).read_bytes().replace(b"\r\n", b"\n") for name in inputs)
    return f"# python3 dev.py lock: {' + '.join(inputs)} {hashlib.sha256(content).hexdigest()}"


def _python_faults(root: Path, inputs: tuple[str, ...]) -> Iterator[str]:
    name = _lock_name(inputs)
    first, *lines = (root / name).read_text(encoding="utf-8").splitlines()
    if first != _first_line(root, inputs):
        yield f"{name} was not compiled from {' and '.join(inputs)} as they are now; run `python3 dev.py lock`."
    for line in logical_lines(lines):
        if not PIN.match(line):
            yield f"{name} holds a line that is not an exact pin with hashes: {line[:80]}"


def logical_lines(lines: Iterable[str]) -> list[str]:
    """Returns the requirements of a lock, each on one line, without backslashes and indents."""
    return re.sub(r" \\\n\s+", " ", "\n".join(lines)).splitlines()


def _node_faults(root: Path, folder: str) -> Iterator[str]:
    wanted = json.loads((root / folder / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((root / folder / "package-lock.json").read_text(encoding="utf-8"))
    held = lock["packages"][""]
    for kind in ("dependencies", "devDependencies"):
        if wanted.get(kind, {}) != held.get(kind, {}):
            yield f"{folder}/package-lock.json has other {kind} than package.json; run `python3 dev.py lock`."
    for name, package in lock["packages"].items():
        if "://" in package.get("resolved", ""):
            yield f"{folder}/package-lock.json names the address of {name}; run `python3 dev.py lock`."
        if name.startswith("node_modules/") and not package.get("link") and not package.get("integrity"):
            yield f"{folder}/package-lock.json has no hash of {name}; run `python3 dev.py lock`."
