"""Queries git about a checkout. It changes nothing."""

import subprocess
from pathlib import Path


def git_output(root: Path, *arguments: str) -> str | None:
    """Returns git's output; None if it fails, or isn't installed."""
    try:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
