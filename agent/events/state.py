"""The state that events keep for the next session, in a small file in the agent's folder."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

MAX_SIZE = 4096  # bytes


class EventState(NamedTuple):
    """The kernel's boot id, the last record of its log that was read, and when; `saved` is nanoseconds since 1970."""

    boot_id: str = ""
    sequence: int = -1
    saved: int = 0


def load_state(path: str) -> EventState:
    """Returns the last session's state; an empty one where there is none or it makes no sense."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(MAX_SIZE))
        return EventState(str(found["boot_id"]), int(found["sequence"]), int(found["saved"]))
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return EventState()


def save_state(path: str, state: EventState) -> None:
    """Replaces the file as a whole, readable by its owner only. Raises OSError."""
    temporary = f"{path}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(json.dumps(state._asdict()).encode())
    os.replace(temporary, path)
