"""The environment file: hands a task's variables, a signature among them, to a process that starts apart from it.

It is written for this user only, loaded once and deleted by loading.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from agent.supervision.folders import opened_file, replace_file

PREFIXES = ("AZ_BATCH_", "BATCHSCOPE_")
"""What the names of handed variables begin with; none of them changes how a program runs."""
MAX_SIZE = 1 << 20


def write_environment(path: str, environment: Mapping[str, str]) -> None:
    """Writes the variables of Batch and of the agent, with mode 0600. Raises OSError."""
    replace_file(path, json.dumps(_chosen(environment)).encode("ascii"))


def load_environment(path: str) -> dict[str, str]:
    """Returns the variables of a file and deletes it, even if it makes no sense; none where there is no file.

    Raises OSError if it can't be read or deleted, and ValueError if it isn't of this user or makes no sense.
    """
    try:
        content, owner = opened_file(path, MAX_SIZE)
    except FileNotFoundError:
        return {}
    os.unlink(path)
    if owner != os.geteuid():
        raise ValueError("The environment file belongs to another user.")
    found = json.loads(content)
    if not isinstance(found, dict):
        raise ValueError("The environment file makes no sense.")  # noqa: TRY004 - of a file, not of a caller
    return _chosen(found)


def _chosen(environment: Mapping[str, object]) -> dict[str, str]:
    chosen = {name: value for name, value in environment.items() if name.startswith(PREFIXES)}
    return {name: value for name, value in chosen.items() if isinstance(value, str) and "\0" not in name + value}
