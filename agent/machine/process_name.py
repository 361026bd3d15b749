"""The name of the agent's processes, by which agents recognise each other, also those that aren't registered.

They bear the variables of the task that started them for good, and yet belong to no task.
"""

from __future__ import annotations

from contextlib import suppress

from agent.machine.machine import Machine

NAME = "batchscope"
"""As `ps` shows it; the kernel keeps 15 bytes."""


def take_name(machine: Machine) -> None:
    """Gives this process the agent's name, which processes that it forks inherit; without /proc it has none."""
    with suppress(OSError), open(machine.path("/proc/self/comm"), "w", encoding="ascii") as file:
        file.write(NAME)


def has_name(machine: Machine, pid: int) -> bool:
    """Returns whether a process has the agent's name."""
    return machine.optional_text(f"/proc/{pid}/comm") == NAME
