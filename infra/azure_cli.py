"""Calls the Azure CLI for the scripts beside this file, which run on a plain Python: `python3 -m infra.NAME`."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

type Az = Callable[..., Any]
"""Runs `az` with arguments and gives its JSON answer."""


class CommandError(Exception):
    """The Azure CLI is missing, or what was asked of it failed; the text says which."""


def az(*arguments: str) -> Any:
    """What `az` answers, parsed; None when it answers nothing. Raises CommandError."""
    program = shutil.which("az")
    if program is None:
        raise CommandError("The Azure CLI (az) is not installed, or not on the PATH.")
    return parsed([program, *arguments, "--only-show-errors", "--output", "json"])


def parsed(command: Sequence[str]) -> Any:
    """The JSON that a command prints. Raises CommandError with the command's own words."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(f"az {' '.join(command[1:4])} failed: {done.stderr.strip()}")
    return json.loads(done.stdout) if done.stdout.strip() else None
