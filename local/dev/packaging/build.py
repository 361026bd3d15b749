"""`build`: the deployed zip with the app, the dashboard, and all dependencies for Azure's machines; the node agent.

The same files give the same bytes in any folder and at any time: names are sorted, time stamps are fixed, and
dependencies are wheels by their hashes. `.funcignore` applies as in the platform's own tools.

Each Python file has its bytecode beside it, which Python loads without reading the source (PEP 552, "unchecked"). Azure
mounts packages read-only, so Python can't store compiled bytecode there. Packages don't keep the time stamps by which
Python would match bytecode to its source.
"""

import fnmatch
import hashlib
import io
import marshal
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from local.dev.packaging import compiling, wheels
from local.dev.packaging.agent_file import AGENT_FILE, write_agent
from local.dev.packaging.zip_entries import add_file
from local.dev.setup.install import prepare
from local.dev.system.checkout import Checkout
from local.dev.system.console import Failure, say, step

ARCHIVE = "dist/batchscope.zip"
DEPLOYED = ("host.json", "function_app.py", "requirements.txt", "functions", "shared", "web/dist")


def build(checkout: Checkout, *, remote: bool = False) -> int:
    """Writes the zip and prints its hash; `remote` leaves the dependencies to a build in Azure."""
    prepare(checkout)
    archive = checkout.root / ARCHIVE
    dependencies = [] if remote else wheels.download(checkout)
    agent = checkout.root / AGENT_FILE
    with step(f"packing {AGENT_FILE}"):
        write_agent(checkout.root, agent)
    with step(f"packing {ARCHIVE}"):
        offered = (AGENT_FILE, agent.read_bytes())  # which the app puts into storage for nodes
        write_archive(archive, [offered, *contents(checkout.root, dependencies)])
    for written in (archive, agent):
        _describe(written)
    return 0


def _describe(archive: Path) -> None:
    """Prints an archive's size and hash."""
    with zipfile.ZipFile(archive) as written:
        count = len(written.namelist())
    say(f"{archive}: {count} files, {archive.stat().st_size / 1024 / 1024:.1f} MiB")
    say(f"sha256 {hashlib.sha256(archive.read_bytes()).hexdigest()}")


def contents(root: Path, dependencies: list[Path]) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of every deployed file: the app's, then those of the wheels it depends on."""
    for path in deployed_files(root):
        yield path.relative_to(root).as_posix(), path.read_bytes()
    for name, content in wheels.files_of(dependencies):
        yield f"{wheels.SITE_PACKAGES}/{name}", content


def deployed_files(root: Path) -> Iterator[Path]:
    """Yields the path of every deployed file, sorted. Raises Failure if a part is missing."""
    ignored = ignore_patterns(root / ".funcignore")
    for name in DEPLOYED:
        part = root / name
        if not part.exists():
            raise Failure(f"{name} is missing, so nothing that works could be deployed.")
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            if path.is_file() and not is_ignored(path.relative_to(root).as_posix(), ignored):
                yield path


def ignore_patterns(path: Path) -> list[str]:
    """Returns the lines of an ignore file. Refuses negations, which aren't implemented."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]
    for pattern in patterns:
        if pattern.startswith("!"):
            raise Failure(f"{path.name} holds {pattern}; negations are not supported.")
    return patterns


def is_ignored(name: str, patterns: Sequence[str]) -> bool:
    """Returns whether a pattern matches the path or one of its folders; an inner slash anchors it at the root."""
    parts = name.split("/")
    return any(_matches(parts, pattern) for pattern in patterns)


def _matches(parts: Sequence[str], pattern: str) -> bool:
    wanted = pattern.strip("/").split("/")
    if "/" not in pattern.rstrip("/"):
        return any(fnmatch.fnmatchcase(part, wanted[0]) for part in parts)
    pairs = zip(parts, wanted, strict=False)
    return len(parts) >= len(wanted) and all(fnmatch.fnmatchcase(part, piece) for part, piece in pairs)


def write_archive(archive: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Writes a zip of these names and contents, with the bytecode of each Python file at the end."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_name(f"{archive.name}.new")
    with zipfile.ZipFile(fresh, "w") as target:
        sources = []
        for name, content in files:
            add_file(target, name, content)
            if name.endswith(".py"):
                sources.append((name, content))
        for name, compiled in zip((name for name, _ in sources), bytecode(sources), strict=True):
            add_file(target, bytecode_name(name), compiled)
    fresh.replace(archive)


def bytecode_name(source: str) -> str:
    """Returns the path where this Python expects the bytecode of a source."""
    path = PurePosixPath(source)
    return str(path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc")


def bytecode(sources: list[tuple[str, bytes]]) -> Iterator[bytes]:
    """Yields the bytecode of each source, which contains its name. Raises Failure if one doesn't compile."""
    command = (sys.executable, "-I", "-S", compiling.__file__)
    done = subprocess.run(command, input=marshal.dumps(sources), stdout=subprocess.PIPE, check=True)
    answers = io.BytesIO(done.stdout)
    for _ in sources:
        compiled = marshal.load(answers)  # noqa: S302 - of the program above
        if isinstance(compiled, str):
            raise Failure(compiled)
        yield compiled
