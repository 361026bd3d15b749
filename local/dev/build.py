"""`build`: the zip that is deployed, with nothing in it that the app does not need.

The same files give the same bytes: names are sorted and time stamps fixed. `.funcignore` counts here as it does for
the platform's own tools.

Beside each Python file stands its bytecode, which Python takes without looking at the source (PEP 552, "unchecked"):
Azure runs apps from a package that is mounted read-only, where Python can't store what it compiled, and packages don't
keep the time stamps by which it would know that bytecode is the source's.
"""

import fnmatch
import py_compile
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from local.dev.checkout import Checkout
from local.dev.console import Failure, say, step
from local.dev.install import prepare

DEPLOYED = ("host.json", "function_app.py", "requirements.txt", "functions", "shared", "web/dist")
EPOCH = (1980, 1, 1, 0, 0, 0)
READABLE = 0o644 << 16


def build(checkout: Checkout) -> int:
    """Write `dist/batchscope.zip`."""
    prepare(checkout)
    archive = checkout.root / "dist/batchscope.zip"
    with step("packing dist/batchscope.zip"):
        files = list(deployed_files(checkout.root))
        write_archive(archive, checkout.root, files)
    say(f"{archive}: {len(files)} files, {archive.stat().st_size / 1024:.0f} KiB")
    return 0


def deployed_files(root: Path) -> Iterator[Path]:
    """Every file to deploy, sorted; a Failure when a part is missing."""
    ignored = ignore_patterns(root / ".funcignore")
    for name in DEPLOYED:
        part = root / name
        if not part.exists():
            raise Failure(f"{name} is missing, so nothing that works could be deployed.")
        for path in sorted(part.rglob("*")) if part.is_dir() else [part]:
            if path.is_file() and not is_ignored(path.relative_to(root).as_posix(), ignored):
                yield path


def ignore_patterns(path: Path) -> list[str]:
    """The lines of an ignore file. Negations are refused: they are not implemented here."""
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]
    for pattern in patterns:
        if pattern.startswith("!"):
            raise Failure(f"{path.name} holds {pattern}; negations are not supported.")
    return patterns


def is_ignored(name: str, patterns: Sequence[str]) -> bool:
    """Whether a pattern matches the path or a folder on it; one with a slash before its end counts from the root."""
    parts = name.split("/")
    return any(_matches(parts, pattern) for pattern in patterns)


def _matches(parts: Sequence[str], pattern: str) -> bool:
    wanted = pattern.strip("/").split("/")
    if "/" not in pattern.rstrip("/"):
        return any(fnmatch.fnmatchcase(part, wanted[0]) for part in parts)
    pairs = zip(parts, wanted, strict=False)
    return len(parts) >= len(wanted) and all(fnmatch.fnmatchcase(part, piece) for part, piece in pairs)


def write_archive(archive: Path, root: Path, files: Sequence[Path]) -> None:
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_name(f"{archive.name}.new")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as target:
        for path in files:
            name = path.relative_to(root)
            _add(target, name, path.read_bytes())
            if path.suffix == ".py":
                _add(target, bytecode_name(name), bytecode(path, name))
    fresh.replace(archive)


def _add(target: zipfile.ZipFile, name: PurePath, content: bytes) -> None:
    entry = zipfile.ZipInfo(name.as_posix(), EPOCH)
    entry.external_attr = READABLE
    entry.compress_type = zipfile.ZIP_DEFLATED
    target.writestr(entry, content)


def bytecode_name(source: PurePath) -> PurePath:
    """Where this Python looks for the bytecode of a source."""
    return source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"


def bytecode(path: Path, name: PurePath) -> bytes:
    """The unchecked bytecode of a source, which is called `name` in it. Raises a Failure where it doesn't compile."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder, "compiled.pyc")
        try:
            py_compile.compile(
                str(path),
                str(compiled),
                name.as_posix(),
                doraise=True,
                optimize=0,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
        except py_compile.PyCompileError as error:
            raise Failure(f"{name} doesn't compile: {error.exc_value}") from error
        return compiled.read_bytes()
