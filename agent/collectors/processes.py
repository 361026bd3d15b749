"""Number of processes by state and of their threads: Telegraf's `processes`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Tuple

from agent.collectors.collector import UnsupportedError
from agent.machine.machine import Machine
from agent.records.record import Record, Value

State = Tuple[str, int]
"""The kernel's letter for the state of a process, and the number of its threads."""
_FIELDS = {
    "R": "running", "S": "sleeping", "D": "blocked", "U": "blocked", "L": "blocked", "Z": "zombies", "X": "dead",
    "x": "dead", "T": "stopped", "t": "stopped", "W": "paging", "I": "idle", "P": "parked",
}  # fmt: skip
_ALWAYS = ("running", "sleeping", "blocked", "zombies", "stopped", "idle")


class ProcessesCollector:
    """Counts the processes. `states` returns those of all processes at a time, from a pass that others share."""

    name = "processes"

    def __init__(self, machine: Machine, states: Callable[[int], Iterable[State]], interval: float = 10.0) -> None:
        self.interval = interval
        self._states = states
        if not machine.exists("/proc/1/stat"):
            raise UnsupportedError("The node hides the processes of other users, so they can't be counted.")

    def collect(self, now: int) -> Iterable[Record]:
        return [Record("processes", counts_of(self._states(now)))]


def counts_of(states: Iterable[State]) -> dict[str, Value]:
    """Returns Telegraf's fields; rare states are left out where no process has them."""
    counts: Counter[str] = Counter()
    total = threads = 0
    for letter, of_process in states:
        counts[_FIELDS.get(letter, "unknown")] += 1
        total += 1
        threads += of_process
    return {**dict.fromkeys(_ALWAYS, 0), **counts, "total": total, "total_threads": threads}
