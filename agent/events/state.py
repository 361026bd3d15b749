"""The state that events keep for the next session, in small files in the agent's folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import NamedTuple

MAX_SIZE = 4096  # bytes
MAX_MOMENTS = 32


class Reboot(NamedTuple):
    """When a session noticed a reboot, and the last sign of the session before, in nanoseconds since 1970."""

    noticed: int
    last_sign: int


class EventState(NamedTuple):
    """The kernel's boot id, the last record of its log up to which all events are in the spool, and when.

    `saved` and `started`, the kernel's start, are nanoseconds since 1970; the latter is 0 where it isn't known.
    `reboots` are those whose events aren't in the spool.
    """

    boot_id: str = ""
    sequence: int = -1
    saved: int = 0
    started: int = 0
    reboots: tuple[Reboot, ...] = ()


def load_state(path: str) -> EventState:
    """Returns the last session's state; an empty one where there is none or it makes no sense."""
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(MAX_SIZE))
        return EventState(
            str(found["boot_id"]),
            int(found["sequence"]),
            int(found["saved"]),
            int(found.get("started", 0)),
            tuple(Reboot(int(noticed), int(last_sign)) for noticed, last_sign in found.get("reboots", ())),
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError, OverflowError, RecursionError):
        return EventState()


def save_state(path: str, state: EventState) -> None:
    """Replaces the file as a whole, readable by its owner only. Raises OSError."""
    _replace(path, state._asdict())


def load_moments(path: str) -> dict[str, int]:
    """Returns the times, in nanoseconds since 1970, by name; none where there is no file or it makes no sense."""
    try:
        with open(path, "rb") as file:
            return {str(name): int(moment) for name, moment in json.loads(file.read(MAX_SIZE)).items()}
    except (OSError, ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        return {}


def save_moments(path: str, moments: Mapping[str, int]) -> None:
    """Replaces the file by the last MAX_MOMENTS, whose names have at most 64 characters. Raises OSError."""
    _replace(path, dict(list(moments.items())[-MAX_MOMENTS:]))


def _replace(path: str, content: Mapping[str, object]) -> None:
    """Replaces a file once the new one's bytes are on the disk: a power failure else leaves an empty one."""
    temporary = f"{path}.new"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(json.dumps(content).encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
