"""Programs that read workflows and hooks."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from local.dev.checking.checks import workflows
from tests.infra.rules.scenarios import Infrastructure


def linted(infrastructure: Infrastructure) -> Iterator[str]:
    """actionlint, zizmor and yamllint have nothing to say."""
    files = [path for path in sorted((infrastructure.root / ".github").rglob("*")) if path.is_file()]
    files += [infrastructure.root / name for name in ("azure.yaml", ".yamllint.yaml")]
    content = tuple((str(path.relative_to(infrastructure.root)), path.read_bytes()) for path in files)
    if content not in _COMPLAINTS:
        _COMPLAINTS[content] = list(_complaints(infrastructure.root))
    yield from _COMPLAINTS[content]


_COMPLAINTS: dict[tuple[tuple[str, bytes], ...], list[str]] = {}
"""Complaints by the names and contents of all files that the programs look at."""


def _complaints(root: Path) -> Iterator[str]:
    programs = Path(sys.executable).parent
    commands = (
        ("actionlint", *workflows(root)),
        ("zizmor", "--offline", "--quiet", "--no-progress", ".github"),
        ("yamllint", "--strict", ".github", "azure.yaml"),
    )
    for command in commands:
        program = programs / f"{command[0]}{Path(sys.executable).suffix}"
        done = subprocess.run([str(program), *command[1:]], cwd=root, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{command[0]}: {done.stdout}{done.stderr}"


RULES: tuple[Callable[[Infrastructure], Iterator[str]], ...] = (linted,)
