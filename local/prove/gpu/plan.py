"""The course of the proof: phases in which the use of the GPU by two tasks is known."""

from __future__ import annotations

from types import MappingProxyType
from typing import Mapping, NamedTuple, Sequence, Union

JOB = "gpu-proof"
FIRST, SECOND, BYSTANDER = "first", "second", "bystander"
"""Ids of the tasks; the last one never uses the GPU."""
MEBIBYTES = {FIRST: 3000, SECOND: 5000}
"""Memory that each task allocates."""
HALF = 0.5
SETTLING = 2.5
"""Seconds after which figures follow a change: NVML averages power and utilization over up to a second."""
Command = Sequence[Union[str, float]]
_NONE: Mapping[str, Command] = MappingProxyType({})


class Phase(NamedTuple):
    """A part of the run: it lasts so many seconds, or until all commands to tasks are done where that takes longer."""

    name: str
    seconds: float
    commands: Mapping[str, Command] = _NONE


PLAN = (
    Phase("before", 5),
    Phase("begin", 0, {FIRST: ("begin",), SECOND: ("begin",)}),
    Phase("context", 6),
    Phase("allocate", 0, {name: ("allocate", size) for name, size in MEBIBYTES.items()}),
    Phase("held", 8),
    Phase("busy", 14, {FIRST: ("busy", 14, 1)}),
    Phase("idle", 6),
    Phase("half", 14, {SECOND: ("busy", 14, HALF)}),
    Phase("both", 12, {FIRST: ("busy", 12, 1), SECOND: ("busy", 12, 1)}),
    Phase("still", 5),
    Phase("free", 0, {FIRST: ("free",)}),
    Phase("freed", 6),
    Phase("exit", 0, {FIRST: ("exit",), SECOND: ("exit",)}),
    Phase("after", 6),
)
STUB_PLAN = (Phase("before", 1), Phase("held", 5), Phase("busy", 5))
"""Without a workload, as the stub library answers always the same."""
