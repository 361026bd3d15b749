"""The agent's file as a build makes it, with the proof's start in place of its own."""

import shutil
import sys
import zipfile
from pathlib import Path

from local.dev.packaging.agent_file import agent_files
from local.dev.packaging.zip_entries import add_file

_START = "__main__.py"
_MINORS = range(8, 14)  # of Python 3


def write_agent_under_proof(root: Path, archive: Path) -> None:
    """Writes a zip that Python runs. Raises Failure where there is no agent."""
    with zipfile.ZipFile(archive, "w") as target:
        add_file(target, _START, Path(__file__).with_name("entry.py").read_bytes())
        for name, content in agent_files(root):
            if name != _START:
                add_file(target, name, content)


def pythons() -> list[str]:
    """Returns the Pythons of this machine that the agent supports, this one first."""
    others = (shutil.which(f"python3.{minor}", path="/usr/bin:/usr/local/bin") for minor in _MINORS)
    return [sys.executable, *(path for path in others if path)]
