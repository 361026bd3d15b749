"""The node agent's one file: a zip that Python runs, the same bytes from the same files in any folder at any time."""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from local.dev.packaging.zip_entries import add_file
from local.dev.system.console import Failure

AGENT_FILE = "dist/batchscope-agent.pyz"
SHEBANG = b"#!/usr/bin/env python3\n"
_START = b"""\
import sys

try:
    from agent.cli import main
except Exception as error:  # an older Python, or one without ssl: the task goes on without the agent
    sys.stderr.write("batchscope-agent: This Python can't run the agent: %s\\n" % error)
    sys.exit(0 if sys.argv[1:2] == ["start"] else 2)

sys.exit(main())
"""


def write_agent(root: Path, archive: Path) -> None:
    """Writes the agent's file. It holds sources only, as nodes have any Python from 3.8 on. Raises Failure."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    fresh = archive.with_name(f"{archive.name}.{os.getpid()}.new")
    with fresh.open("wb") as file:
        file.write(SHEBANG)
        with zipfile.ZipFile(file, "w") as target:
            for name, content in agent_files(root):
                add_file(target, name, content)
    fresh.chmod(0o755)
    fresh.replace(archive)


def agent_files(root: Path) -> Iterator[tuple[str, bytes]]:
    """Yields name and content of each of the agent's files, sorted, the start first."""
    yield "__main__.py", _START
    sources = sorted((root / "agent").rglob("*.py"))
    if not sources:
        raise Failure("The folder agent is missing, so there is no agent to build.")
    for path in sources:
        yield path.relative_to(root).as_posix(), path.read_bytes()
